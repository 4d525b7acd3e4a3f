"""`make compare A=… B=…`: match cells of two selections of runs; print ratios, verdicts; write CSV, page."""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from base.errors import BadInputError
from base.text import UNBROKEN, counted, did_you_mean, filled, printable_lines, rows_by_place
from commitpath.charts.files import write_csv
from commitpath.command_line.stored_run import NO_RUNS
from commitpath.database import select
from commitpath.host import places
from commitpath.reporting.differences import Row, numbers_of, overall, rows_of
from commitpath.reporting.matched import Matched, left_out, match
from commitpath.reporting.sample_table import short
from commitpath.reporting.statistics import UNDECIDED
from commitpath.results import metrics, query
from commitpath.results.expect_option import Check, judged
from commitpath.results.outcome import Outcome

# The columns of FILE.
HEAD = (
    *("cell", "of", "a", "b", "samples", "ratio", "low", "high", "confidence", "margin", "verdict"),
    "marks",
)
# Per cent within which two sides are equal.
MARGIN, MOST_MARGIN = "1", 100
# Some that METRIC may be.
METRICS = ("tps", "latency_us.p99", "per_transaction.bytes_written", "syncs", "write_amplification")


@judged
def compare(options: dict[str, str], check: Check) -> Outcome:
    """Print the comparison; write it to FILE as CSV, and to PAGE as a page."""
    if lacking := [side for side in "AB" if not options.get(side)]:
        raise BadInputError(
            f"{' and '.join(lacking)}: missing; make compare takes A=<runs> and B=<runs>, such as "
            "'mode=wal sync=full' (make help compare)"
        )
    margin = margin_of(options.get("MARGIN", MARGIN))
    target = places.new_file("FILE", options["FILE"], ".csv") if "FILE" in options else None
    files = new_page(options["PAGE"]) if "PAGE" in options else []
    runs = list(query.current().every)
    a, b = (select.selected(runs, options[side]) for side in "AB")
    if not runs:
        raise BadInputError(NO_RUNS)
    matched = match(options, a, b, runs)
    check(run.cell for cell in matched for run in (*cell.a, *cell.b))
    metric = options.get("METRIC", "tps")
    rows = [row for cell in matched for row in rows_of(cell, metric, margin)]
    lacking = no_losses(matched, metric)
    if not rows and lacking:
        raise BadInputError(f"METRIC={metric}: {'; '.join(lacking)}")
    if not rows:
        near = did_you_mean(metric, METRICS)
        raise BadInputError(f"METRIC={metric}: {near}no run has it; e.g. {', '.join(METRICS)}")
    each = f", each with {rows[0].samples}" if same(rows) else ""
    medians = f"medians of {metric}, {counted(len(matched), 'matched cell')}{each}"
    head = [f"A: {options['A']}", f"B: {options['B']}", medians]
    notes = [*lacking, *left_out(options, a, b)]
    print(printable_lines(text(head, rows, margins(matched, rows, margin), notes)))
    if target:
        write_csv(target, [HEAD, *map(line_of, rows)])
    if files:
        from commitpath.reporting import side_by_side  # loads matplotlib, which takes a second

        side_by_side.write(options, matched, margin, *files)
    for path in [*([target] if target else []), *files]:
        print(f"written: {path}", file=sys.stderr)
    judged_runs = [
        (f"{side}: {cell.label}" if len(matched) > 1 else side, run)
        for cell in matched
        for side, found in (("A", cell.a), ("B", cell.b))
        for run in found
    ]
    return Outcome(0, judged_runs)


def no_losses(matched: Sequence[Matched], metric: str) -> list[str]:
    """Return a line for each side of a cell that has no losses, as a cut left no usable database."""
    found = {
        f"{cell.label}, {side}: no number of what cuts took: {cuts}": None
        for cell in matched
        for side, runs in (("A", cell.a), ("B", cell.b))
        for run in runs
        if (cuts := metrics.unusable(run, metric))
    }
    return list(found)


def new_page(text: str) -> list[Path]:
    """Return the page that PAGE names, and the files of its figure. Raises BadInputError if one is there."""
    page = places.new_file("PAGE", text)
    if page.suffix != ".html":
        raise BadInputError(f"PAGE={text}: its end is not .html")
    figure = [page.with_suffix(suffix) for suffix in (".svg", ".png")]
    return [page, *(places.new_file(f"PAGE={text}: its figure", str(path)) for path in figure)]


def margin_of(text: str) -> float:
    """Return MARGIN, in per cent, as a fraction. Raises BadInputError."""
    if not re.fullmatch(r"[0-9]{1,3}([.][0-9]{1,6})?", text) or float(text) > MOST_MARGIN:
        raise BadInputError(f"MARGIN={text}: MARGIN is a number from 0 to {MOST_MARGIN}, in per cent")
    return float(text) / 100


def same(rows: Sequence[Row]) -> bool:
    """Return whether all rows have the same number of samples."""
    return len({row.samples for row in rows}) == 1


def text(head: list[str], rows: list[Row], margin: str, more: list[str]) -> list[str]:
    """Return the heading, the table, its footnotes, the verdict over all cells for each number, and notes."""
    # one seed on one board has none
    spans = any(row.difference.interval for row in rows)
    wide = max(len(row.metric) for row in rows)
    once = same(rows)
    table = []
    for row in rows:
        medians = [short(median(values)) for values in (row.a, row.b)]
        numbers = [f"  {row.metric:<{wide}}", *medians, *numbers_of(row)[: 1 + spans]]
        # a cell has one number of samples, and its marks
        samples = "" if once else f": {row.samples.replace(' ', UNBROKEN)}"
        table.append((" ".join([f"{row.cell}{samples}", *row.marks]), numbers, row.answer))
    names = [f"  {'of':<{wide}}", "A", "B", "B/A", *(["interval"] if spans else [])]
    lines = rows_by_place(names, "verdict", table)
    notes = select.tags([*(row.cell for row in rows), *more])
    notes += sorted({f"{mark} {meaning}" for row in rows for mark, meaning in row.marks.items()})
    undecided = Counter(row.difference.text for row in rows if row.answer == UNDECIDED)
    notes += [f"{why}, in {count} of {len(rows)} rows" for why, count in undecided.items()]
    repeats = dict.fromkeys(
        f"{row.cell}, {side}: {runs} runs, {len(values)} sample{'s' * (len(values) != 1)}"
        for row in rows
        for side, runs, values in zip("AB", row.runs, (row.a, row.b), strict=True)
        if len(values) < runs
    )
    if repeats:
        notes += [*repeats, "in virtual time runs with one seed on one board are one sample"]
    notes.append(margin)
    for metric in dict.fromkeys(row.metric for row in rows):
        alike = [row for row in rows if row.metric == metric]
        if len(alike) > 1:
            flags = sorted({mark for row in alike for mark in row.marks})
            notes.append(" ".join([f"over {len(alike)} cells, {metric}: {overall(alike)}", *flags]))
    above, below = ([line for note in some for line in filled(note)] for some in (head, [*notes, *more]))
    return [*above, *lines, *below]


def margins(matched: Sequence[Matched], rows: list[Row], margin: float) -> str:
    """Return a line on the margin, with what is known of the boards' spread."""
    text, more = f"margin: {100 * margin:.4g} %", [row.difference.margin for row in rows]
    if max(more) > margin:
        wider = sum(one > margin for one in more)
        return f"{text}; in {wider} of {len(rows)} rows the boards' spread, up to {100 * max(more):.4g} %"
    # None: a selector that names the board compares boards
    boards = [{cell.sample(run)[1] for run in (*cell.a, *cell.b)} for cell in matched if cell.repeatable]
    alone = len(boards) == len(matched) and all(len(one) == 1 and None not in one for one in boards)
    return f"{text}; BOARDS=1: the boards' spread is unknown" if alone else text


def line_of(row: Row) -> list[Any]:
    """Return a row of FILE."""
    d = row.difference
    values = [" ".join(map(repr, row.a)), " ".join(map(repr, row.b)), row.samples]
    found = [d.interval.low, d.interval.high, d.interval.confidence] if d.interval else [None] * 3
    return [row.cell, row.metric, *values, d.ratio, *found, d.margin, d.text, "; ".join(row.marks.values())]
