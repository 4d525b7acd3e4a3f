"""`make compare A=… B=…`: compare two selections of runs, cell by matching cell."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.text import printable_lines
from commitpath.charts.files import write_csv
from commitpath.database import select
from commitpath.host import places
from commitpath.reporting import statistics
from commitpath.reporting.matched import Matched, left_out, match
from commitpath.reporting.statistics import Difference
from commitpath.results import measurements, query
from commitpath.results.judged import Check, judged
from commitpath.results.measurements import distinct
from commitpath.results.outcome import Outcome

# The columns of FILE.
HEAD = ("cell", "of", "a", "b", "n_a", "n_b", "ratio", "low", "high", "confidence", "p", "verdict", "marks")
METRICS = "tps, latency_us.p99, per_transaction.bytes_written, syncs, write_amplification, …"


@dataclass(frozen=True)
class Row:
    """One matched cell and metric.

    a, b: a value per distinct run; n: the distinct measurements of the metric; runs: how many runs there are.
    difference: None if a value is not positive, so that there is no ratio.
    """

    cell: str
    metric: str
    a: list[float]
    b: list[float]
    n: tuple[list[float], list[float]]
    runs: tuple[int, int]
    difference: Difference | None
    marks: dict[str, str]


@judged
def compare(options: dict[str, str], _: Check) -> Outcome:
    """Print the comparison; write it to FILE as CSV, and to PAGE as a page."""
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
    metric = options.get("METRIC", "tps")
    rows = [row for cell in matched for row in cell_rows(cell, metric)]
    if not rows:
        raise BadInputError(f"METRIC={metric}: none of the runs has it; e.g. {METRICS}")
    head = [f"A: {options['A']}", f"B: {options['B']}"]
    head.append(f"{metric}, {len(matched)} matched cell{'s' * (len(matched) != 1)}")
    print(printable_lines([*head, *text(rows), *left_out(options, *sides)]))
    if target:
        write_csv(target, [HEAD, *map(line_of, rows)])
    if files:
        from commitpath.reporting import side_by_side  # loads matplotlib, which takes a second

        side_by_side.write(options, matched, *files)
    for path in [*([target] if target else []), *files]:
        print(f"written: {path}", file=sys.stderr)
    judged_runs = [
        (f"{side}: {cell.label}" if len(matched) > 1 else side, run)
        for cell in matched
        for side, found in (("A", cell.a), ("B", cell.b))
        for run in found
    ]
    return Outcome(0, judged_runs)


def new_page(text: str) -> list[Path]:
    """Return the page that PAGE names, and the files of its figure. Raises BadInputError if one is there."""
    page = places.new_file("PAGE", text)
    if page.suffix != ".html":
        raise BadInputError(f"PAGE={text}: its end is not .html")
    figure = [page.with_suffix(suffix) for suffix in (".svg", ".png")]
    return [page, *(places.new_file(f"PAGE={text}: its figure", str(path)) for path in figure)]


def cell_rows(cell: Matched, metric: str) -> list[Row]:
    """Return a row for each value that the metric has in every run of the cell."""
    rows = []
    values = [[flat(run.summary, metric) for run in side] for side in (cell.a, cell.b)]
    for name in values[0][0]:
        if not all(name in numbers for side in values for numbers in side):
            continue
        a, b = ([numbers[name] for numbers in side] for side in values)
        n = distinct(cell.a, a), distinct(cell.b, b)
        difference = statistics.compare(a, b, n) if min([*a, *b]) > 0 else None
        runs = len(a) + cell.repeats[0], len(b) + cell.repeats[1]
        rows.append(Row(cell.label, name, a, b, n, runs, difference, cell.marks()))
    return rows


def flat(summary: Any, metric: str) -> dict[str, float]:
    """Return a metric's numbers by name.

    `tps` → {insert: …, all: …}; `latency_us.p99` → {insert: …}; `block.flushes` → {flushes: …}.
    """
    numbers: dict[str, float] = {}
    operations = summary["tps"]  # those of the workload, and all

    def walk(value: Any, wanted: list[str], name: str) -> None:
        if isinstance(value, dict):
            head = wanted[0] if wanted else None
            for key, inner in value.items():
                if key == head:
                    walk(inner, wanted[1:], name)
                elif key in operations or head is None:
                    walk(inner, wanted, f"{name}.{key}".strip("."))
        elif isinstance(value, int | float) and not isinstance(value, bool) and not wanted:
            numbers[name or metric.rpartition(".")[2]] = float(value)

    walk(summary, metric.split("."), "")
    return numbers


def text(rows: list[Row]) -> list[str]:
    """Return the table, its footnotes, and the lines over all cells."""
    table = [["cell", "of", "median A", "median B", "n", "B/A", "interval", "p", ""]]
    for row in rows:
        medians = [f"{statistics.median(values):.4g}" for values in (row.a, row.b)]
        n = "/".join(str(len(values)) for values in row.n)
        numbers = ["-", "-", "-"]
        if d := row.difference:
            interval = f"{d.low:.4g} to {d.high:.4g} ({d.confidence:.0%})" if d.confidence else "-"
            numbers = [f"{d.ratio:.4g}", interval, "-" if d.p is None else f"{d.p:.3f}"]
        table.append([row.cell, row.metric, *medians, n, *numbers, " ".join([verdict(row), *row.marks])])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in table]
    lines += sorted({f"{mark} {meaning}" for row in rows for mark, meaning in row.marks.items()})
    repeats = [
        f"{row.cell}, {row.metric}, {side}: {measurements.text(runs, len(values))}"
        for row in rows
        for side, runs, values in zip("AB", row.runs, row.n, strict=True)
        if len(values) < runs
    ]
    lines += [*repeats, "equal outcomes in virtual time are one measurement"] if repeats else []
    return [*lines, *together(rows)]


def verdict(row: Row) -> str:
    """Return the verdict of a row, in words."""
    return row.difference.verdict if row.difference else "no ratio"


def together(rows: list[Row]) -> list[str]:
    """Return a line for each metric with a ratio in several cells, over all of them."""
    lines = []
    compared = [row for row in rows if row.difference]
    if without := len(rows) - len(compared):
        lines.append(f"{without} of {len(rows)} rows without a ratio: a value of A or B is 0 or less")
    for metric in dict.fromkeys(row.metric for row in compared):
        alike = [row for row in compared if row.metric == metric]
        if len(alike) < 2:
            continue
        ratio = statistics.median([row.difference.ratio for row in alike if row.difference])
        p, least = statistics.over_cells([row.n for row in alike])
        scope = "all" if len(alike) == sum(row.metric == metric for row in rows) else "the other"
        result = "no difference" if p > statistics.LEVEL else "B differs from A"
        result = "too few runs to tell" if least > statistics.LEVEL else result
        flags = sorted({mark for row in alike for mark in row.marks})
        lines.append(
            f"over {scope} {len(alike)} cells, {metric}: median B/A {ratio:.4g}, p {p:.4f}: "
            f"{' '.join([result, *flags])}"
        )
    tested = sum(row.difference is not None and row.difference.p is not None for row in rows)
    if tested > 1:
        lines.append(
            f"{tested} tests at the {statistics.LEVEL:.0%} level: "
            f"{tested * statistics.LEVEL:.1f} of them differ by chance where nothing does"
        )
    return lines


def line_of(row: Row) -> list[Any]:
    """Return a row of FILE."""
    d = row.difference
    values = [" ".join(map(repr, row.a)), " ".join(map(repr, row.b)), *map(len, row.n)]
    numbers = [d.ratio, d.low, d.high, d.confidence, d.p] if d else [None] * 5
    return [row.cell, row.metric, *values, *numbers, verdict(row), "; ".join(row.marks.values())]
