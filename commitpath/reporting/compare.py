"""`make compare A=… B=…`: two selections of runs, cell by matching cell."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.text import printable_lines
from commitpath.cells.axes import axes
from commitpath.charts.files import write_csv
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.host import places
from commitpath.reporting import statistics
from commitpath.reporting.matched import Matched
from commitpath.reporting.statistics import Difference
from commitpath.results import measurements, query
from commitpath.results.measurements import distinct, samples

# Facts that make two runs two measurements of different things, unless a selector names them.
SIGNATURE_FACTS = ("lab", "uname")
HEAD = ("cell", "of", "a", "b", "n_a", "n_b")  # of FILE's columns, those before the numbers
METRICS = "tps, latency_us.p99, per_transaction.bytes_written, syncs, write_amplification, …"


# Of cells without a counterpart, how many are named.
MOST_NAMED = 5


@dataclass(frozen=True)
class Row:
    """One matched cell and metric.

    a, b: a value per distinct run; n: how many of them are distinct measurements of the metric; runs: how
    many runs there are. difference is None where a value is not positive, so that there is no ratio.
    """

    cell: str
    metric: str
    a: list[float]
    b: list[float]
    n: tuple[list[float], list[float]]
    runs: tuple[int, int]
    difference: Difference | None
    marks: dict[str, str]


def compare(options: dict[str, str]) -> int:
    """Print the comparison; FILE= also gets it as CSV."""
    if not options.get("A") or not options.get("B"):
        raise BadInputError(
            "make compare takes A='sqlite=3.46.1' B='sqlite=3.8.11.1' (terms of axes and "
            f"{', '.join(select.FACTS)}), METRIC=<of summary.json: {METRICS}>, FILE=<new .csv> and "
            "PAGE=<new .html>"
        )
    target = places.new_file("FILE", options["FILE"]) if "FILE" in options else None
    files = new_page(options["PAGE"]) if "PAGE" in options else []
    runs = list(query.current().every)
    sides = [select.selected(runs, options[side]) for side in "AB"]
    matched = match(options, *sides)
    rows = [row for cell in matched for row in cell_rows(cell, options.get("METRIC", "tps"))]
    if not rows:
        raise BadInputError(f"METRIC={options.get('METRIC', 'tps')}: none of the runs has it; e.g. {METRICS}")
    print(printable_lines([*text(options, matched, rows), *left_out(options, *sides)]))
    if target:
        write_csv(target, table(rows))
        print(f"written: {target}", file=sys.stderr)
    if files:
        from commitpath.reporting import side_by_side  # what draws takes a second to load

        side_by_side.write(options, matched, *files)
        for path in files:
            print(f"written: {path}", file=sys.stderr)
    return 0


def new_page(text: str) -> list[Path]:
    """The page that PAGE names, and its figure's files beside it. BadInputError where one cannot be made."""
    page = places.new_file("PAGE", text)
    if page.suffix != ".html":
        raise BadInputError(f"PAGE={text}: its end is not .html")
    figure = [page.with_suffix(suffix) for suffix in (".svg", ".png")]
    return [page, *(places.new_file(f"PAGE={text}: its figure", str(path)) for path in figure)]


def match(options: dict[str, str], a: list[Run], b: list[Run]) -> list[Matched]:
    """Cells that are in both, equal in all that neither selector names. Only ok runs count.

    Where a selector names the engine, in all of these that the engines of both have.
    """
    named = named_by(options, a, b)
    for side, runs in zip("AB", (a, b), strict=True):
        if not any(run.facts["status"] == "ok" for run in runs):
            raise BadInputError(f"{side}={options[side]!r}: no ok run is like that (make results lists them)")
    if {id_of(run) for run in a} & {id_of(run) for run in b}:
        raise BadInputError("A and B name the same runs; nothing to compare")
    groups = [by_signature(runs, named) for runs in (a, b)]
    for side, group in zip("AB", groups, strict=True):
        for runs in group.values():
            for name in sorted(named):
                if name in ("grid", "seed"):
                    continue
                if len(values := {with_release(run, name) for run in runs}) > 1:
                    raise BadInputError(
                        f"{side}={options[side]!r}: {name} is {', '.join(sorted(values))} in one matched "
                        f"cell; name one of them{' (uname=7.3*)' if name == 'kernel' else ''}"
                    )
    common = [signature for signature in groups[0] if signature in groups[1]]
    for signature in common:
        check_contents(options, groups[0][signature][0], groups[1][signature][0])
    if not common:
        differ = [told(n, [*a, *b]) for n in select.varying([*a, *b]) if n not in named]
        raise BadInputError(
            f"no cell is in both A and B: they also differ in {', '.join(differ) or 'lab or kernel'}; "
            "name that in a selector, or sweep the same cells for both"
        )
    shown = [
        name
        for name in select.varying([run for s in common for group in groups for run in group[s]])
        if name not in named | {"seed"}
    ]
    return [
        Matched(
            select.label(groups[0][s][0], shown) or f"{options['A']} and {options['B']}",
            a,
            b,
            (len(groups[0][s]) - len(a), len(groups[1][s]) - len(b)),
        )
        for s in common
        for a, b in [(samples(groups[0][s]), samples(groups[1][s]))]
    ]


def with_release(run: Run, name: str) -> str:
    """What a run has of an axis; of a kernel the release too, as one name may go on to the next."""
    told = run.shown(name)
    return f"{told} ({'.'.join(re.split('[.+-]', run.facts['uname'])[:2])})" if name == "kernel" else told


def left_out(options: dict[str, str], *sides: list[Run]) -> list[str]:
    """A line for each side with cells that the other has not."""
    named = named_by(options, *sides)
    groups = [by_signature(runs, named) for runs in sides]
    lines = []
    for side, own, other in (("A", groups[0], groups[1]), ("B", groups[1], groups[0])):
        if missing := [runs[0] for signature, runs in own.items() if signature not in other]:
            shown = [name for name in select.varying([*sides[0], *sides[1]]) if name != "seed"]
            names = ", ".join(select.label(run, shown) for run in missing[:MOST_NAMED])
            more = f", … ({len(missing)})" if len(missing) > MOST_NAMED else ""
            lines.append(
                f"left out: {len(missing)} of {len(own)} cells of {side}, which the other has not: "
                f"{names}{more}"
            )
    return lines


def named_by(options: dict[str, str], *sides: list[Run]) -> set[str]:
    """What the cells may differ in: what a selector names and, where that is the engine, what not both
    engines have."""
    named = {name for side in "AB" for name, _ in select.parse(options[side])}
    if "engine" in named:
        fine = [run for runs in sides for run in runs if run.facts["status"] == "ok"]
        named |= {name for run in fine for name in axes().keys() - run.settings.keys()}
    return named


def check_contents(options: dict[str, str], a: Run, b: Run) -> None:
    """Refuse to take two contents of one profile's name for equal, unless a selector tells them apart."""
    for side in "AB":
        for name, patterns in select.parse(options[side]):
            same_name = name in a.contents and a.cell.value(name) == b.cell.value(name)
            if same_name and a.contents[name] != b.contents[name] and not any("#" in p for p in patterns):
                raise BadInputError(
                    f"{side}={options[side]!r}: {name} is {a.shown(name)} in A and {b.shown(name)} in B, two "
                    f"contents of one name; say which, such as {name}={a.shown(name)}"
                )


def told(name: str, runs: Sequence[Run]) -> str:
    """An axis in which runs differ; where two contents of one profile do, both."""
    values = sorted({run.shown(name) for run in runs})
    return f"{name} ({', '.join(values)})" if any("#" in value for value in values) else name


def id_of(run: Run) -> tuple[str, ...]:
    """What names a run."""
    return run.facts["lab"], run.facts["cell"], run.facts["run"]


def by_signature(runs: Sequence[Run], named: set[str]) -> dict[tuple[str, ...], list[Run]]:
    """Ok runs by what they must have in common; seeds and repeats are samples of one cell."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        if run.facts["status"] != "ok":
            continue
        names = [name for name in select.names([run]) if name not in named | {"seed"}]
        key = [f"{name}={run.settings.get(name)}" for name in names]
        # who names a kernel means its builds, too
        free = named | ({"uname"} if "kernel" in named else set())
        key += [run.facts[name] for name in SIGNATURE_FACTS if name not in free]
        groups.setdefault(tuple(key), []).append(run)
    return groups


def cell_rows(cell: Matched, metric: str) -> list[Row]:
    """A row for each value that the metric has in every run of the cell."""
    rows = []
    values = [[flat(run.summary, metric) for run in side] for side in (cell.a, cell.b)]
    for name in values[0][0]:
        if not all(name in one for side in values for one in side):
            continue
        a, b = ([one[name] for one in side] for side in values)
        n = distinct(cell.a, a), distinct(cell.b, b)
        difference = statistics.compare(a, b, n) if min([*a, *b]) > 0 else None
        runs = len(a) + cell.repeats[0], len(b) + cell.repeats[1]
        rows.append(Row(cell.label, name, a, b, n, runs, difference, cell.marks()))
    return rows


def flat(summary: Any, metric: str) -> dict[str, float]:
    """`tps` → {insert: …, all: …}; `latency_us.p99` → {insert: …}; `block.flushes` → {flushes: …}."""
    found: dict[str, float] = {}
    operations = summary["tps"]  # a workload's own, and all

    def walk(value: Any, wanted: list[str], name: str) -> None:
        if isinstance(value, dict):
            head = wanted[0] if wanted else None
            for key, inner in value.items():
                if key == head:
                    walk(inner, wanted[1:], name)
                elif key in operations or head is None:
                    walk(inner, wanted, f"{name}.{key}".strip("."))
        elif isinstance(value, int | float) and not isinstance(value, bool) and not wanted:
            found[name or metric.rpartition(".")[2]] = float(value)

    walk(summary, metric.split("."), "")
    return found


def text(options: dict[str, str], matched: list[Matched], rows: list[Row]) -> list[str]:
    """The table, its footnotes, and what holds over all cells."""
    head = ["cell", "of", "median A", "median B", "n", "B/A", "interval", "p", ""]
    table = [head]
    for row in rows:
        medians = [f"{statistics.median(values):.4g}" for values in (row.a, row.b)]
        n = "/".join(str(len(values)) for values in row.n)
        *numbers, verdict = said(row.difference)
        table.append([row.cell, row.metric, *medians, n, *numbers, " ".join([verdict, *row.marks])])
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    lines = [
        f"A: {options['A']}",
        f"B: {options['B']}",
        f"{options.get('METRIC', 'tps')}, {len(matched)} matched cell{'s' * (len(matched) != 1)}",
    ]
    lines += ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in table]
    notes = {f"{mark} {what}" for row in rows for mark, what in row.marks.items()}
    return [*lines, *sorted(notes), *repeats(rows), *together(rows)]


def repeats(rows: list[Row]) -> list[str]:
    """Return a line for each side of a row with fewer distinct measurements than runs."""
    lines = [
        f"{row.cell}, {row.metric}, {side}: {measurements.text(runs, len(values))}"
        for row in rows
        for side, runs, values in zip("AB", row.runs, row.n, strict=True)
        if len(values) < runs
    ]
    return [*lines, "equal outcomes in virtual time are one measurement"] if lines else []


def said(d: Difference | None) -> list[str]:
    """Ratio, interval, p and verdict of a row."""
    if d is None:
        return ["-", "-", "-", "no ratio"]
    return [
        f"{d.ratio:.4g}",
        f"{d.low:.4g} to {d.high:.4g} ({d.confidence:.0%})" if d.confidence else "-",
        "-" if d.p is None else f"{d.p:.3f}",
        d.verdict,
    ]


def together(rows: list[Row]) -> list[str]:
    """One line per metric over all its cells with a ratio, where there are several."""
    lines = []
    compared = [row for row in rows if row.difference]
    if without := len(rows) - len(compared):
        lines.append(f"{without} of {len(rows)} rows without a ratio: a value of A or B is 0 or less")
    for metric in dict.fromkeys(row.metric for row in compared):
        of_it = [row for row in compared if row.metric == metric]
        if len(of_it) < 2:
            continue
        ratio = statistics.median([row.difference.ratio for row in of_it if row.difference])
        p, least = statistics.over_cells([row.n for row in of_it])
        scope = "all" if len(of_it) == sum(row.metric == metric for row in rows) else "the other"
        flags = sorted({mark for row in of_it for mark in row.marks})
        verdict = (
            "too few runs to tell"
            if least > statistics.LEVEL
            else "no difference"
            if p > statistics.LEVEL
            else "B differs from A"
        )
        lines.append(
            f"over {scope} {len(of_it)} cells, {metric}: median B/A {ratio:.4g}, p {p:.4f}: "
            f"{' '.join([verdict, *flags])}"
        )
    tested = sum(row.difference is not None and row.difference.p is not None for row in rows)
    if tested > 1:
        lines.append(
            f"{tested} tests at the {statistics.LEVEL:.0%} level: "
            f"{tested * statistics.LEVEL:.1f} of them differ by chance where nothing does"
        )
    return lines


def table(rows: list[Row]) -> list[list[Any]]:
    """Return the rows of FILE, with a head."""
    lines: list[list[Any]] = [[*HEAD, "ratio", "low", "high", "confidence", "p", "verdict", "marks"]]
    for row in rows:
        d = row.difference
        values = [" ".join(map(repr, row.a)), " ".join(map(repr, row.b)), *map(len, row.n)]
        numbers = [d.ratio, d.low, d.high, d.confidence, d.p] if d else [None] * 5
        lines.append([row.cell, row.metric, *values, *numbers, said(d)[-1], "; ".join(row.marks.values())])
    return lines
