"""Rows of `make compare`: ratio, interval and verdict of each cell and metric; verdict over all cells."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from commitpath.database.select import Run
from commitpath.reporting import statistics
from commitpath.reporting.matched import MOST_NAMED, Matched
from commitpath.reporting.statistics import DIFFERENT, EQUAL, UNDECIDED, WITHIN, Difference, Sample
from commitpath.results import metrics

# Begins a verdict over cells that give different answers.
DEPENDS = "depends on"


@dataclass(frozen=True)
class Row:
    """One matched cell and metric.

    axes: as in Matched. a, b: a value per sample; samples: their number, in words; runs: how many
    runs there are.
    """

    cell: str
    axes: Mapping[str, str]
    metric: str
    a: list[float]
    b: list[float]
    samples: str
    runs: tuple[int, int]
    difference: Difference
    marks: dict[str, str]

    @property
    def answer(self) -> str:
        """Return the row's verdict with its direction, without a reason."""
        return self.difference.text if self.difference.verdict != UNDECIDED else UNDECIDED


def rows_of(cell: Matched, metric: str, margin: float) -> list[Row]:
    """Return a row for each value that the metric has in every run of the cell."""
    rows = []
    values = [[numbers(run, metric) for run in side] for side in (cell.a, cell.b)]
    for name in values[0][0]:
        if not all(name in of_run for side in values for of_run in side):
            continue
        a, b = ([of_run[name] for of_run in side] for side in values)
        runs = len(a) + cell.repeats[0], len(b) + cell.repeats[1]
        samples, difference = compared(cell, a, b, margin)
        rows.append(Row(cell.label, cell.axes, name, a, b, samples, runs, difference, cell.marks()))
    return rows


def compared(cell: Matched, a: list[float], b: list[float], margin: float) -> tuple[str, Difference]:
    """Return the number of samples in words, and how B differs from A. a, b: a value for each run."""
    if not cell.repeatable:
        return f"{len(a)}/{len(b)} runs", statistics.unpaired(a, b, margin)
    sides = by_sample(cell, cell.a, a), by_sample(cell, cell.b, b)
    seeds, boards = (len({level[part] for level in sides[0].keys() & sides[1].keys()}) for part in (0, 1))
    text = f"{seeds} seed{'s' * (seeds != 1)}, {boards} board{'s' * (boards != 1)}"
    return text, statistics.paired(*sides, margin)


def by_sample(cell: Matched, runs: Sequence[Run], values: Sequence[float]) -> dict[Sample, float]:
    """Return the value of each sample; the mean if a selector names several seeds or boards."""
    found: dict[Sample, list[float]] = {}
    for run, value in zip(runs, values, strict=True):
        found.setdefault(cell.sample(run), []).append(value)
    return {sample: fmean(each) if len(each) > 1 else each[0] for sample, each in found.items()}


def numbers(run: Run, metric: str) -> dict[str, float]:
    """Return a metric's numbers by name; without losses if a cut left no usable database."""
    summary = run.summary
    if metrics.unusable(run, metric):
        lost = {path.rpartition(".")[2] for path in metrics.LOSSES}
        crash = {name: value for name, value in summary["crash"].items() if name not in lost}
        summary = {**summary, "crash": crash}
    return flat(summary, metric)


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


def numbers_of(row: Row) -> tuple[str, str]:
    """Return the ratio and its interval, `-` without one."""
    d = row.difference
    interval = "-"
    if d.interval:
        interval = f"{d.interval.low:.4g} to {d.interval.high:.4g} ({d.interval.confidence:.0%})"
    return "-" if d.ratio is None else f"{d.ratio:.4g}", interval


def overall(rows: Sequence[Row]) -> str:
    """Return the verdict over the cells of one metric, in words (answers)."""
    head, *parts = answers(rows)
    return f"{head}: {'; '.join(parts)}" if head.startswith(DEPENDS) else "; ".join([head, *parts])


def answers(rows: Sequence[Row]) -> list[str]:
    """Return the verdict over the cells of one metric, then its parts and the number of cells without any.

    Cells that give different answers are not pooled: the axes are named with which the answer changes.
    """
    decided = [row for row in rows if row.answer != UNDECIDED]
    found = dict.fromkeys(row.answer for row in decided)
    if found.keys() == {EQUAL, WITHIN}:
        found = {WITHIN: None}
    few = len(rows) - len(decided)
    if not found:
        return [f"{UNDECIDED} in any of {len(rows)} cells"]
    if len(found) > 1:
        return [*depends(decided), *([f"{UNDECIDED} in {few} of {len(rows)} cells"] if few else [])]
    (answer,) = found
    span = f", B/A {ratio_span(decided)}" if answer != EQUAL else ""
    where = f"in the {len(decided)} decided of {len(rows)} cells: " if few else ""
    return [f"{where}{answer}{span}"]


def ratio_span(rows: Sequence[Row]) -> str:
    """Return the smallest and the largest ratio of rows; one if they look equal."""
    ratios = sorted(row.difference.ratio for row in rows if row.difference.ratio is not None)
    ends = dict.fromkeys(f"{ratio:.4g}" for ratio in (ratios[0], ratios[-1]))
    return " to ".join(ends)


def depends(rows: Sequence[Row]) -> list[str]:
    """Return `depends on page_size`, and each `B higher with page_size=8192 (B/A 1.2)` of rows."""
    names = deciding(rows)
    words = [f"{DEPENDS} {' and '.join(names) or 'the cell'}"]
    for answer in dict.fromkeys(same_in_total(row) for row in rows):
        alike = [row for row in rows if same_in_total(row) == answer]
        places = list(dict.fromkeys(place(row, names) for row in alike))
        more = f", … ({len(places)})" if len(places) > MOST_NAMED else ""
        words.append(f"{answer} with {', '.join(places[:MOST_NAMED])}{more} (B/A {ratio_span(alike)})")
    return words


def same_in_total(row: Row) -> str:
    """Return a row's answer, with WITHIN for both kinds of equal."""
    answer = WITHIN if row.answer == EQUAL else row.answer
    return answer.removeprefix(f"{DIFFERENT}: ")


def place(row: Row, names: Sequence[str]) -> str:
    """Return a row's values of these axes; without any its cell."""
    return " ".join(f"{name}={row.axes[name]}" for name in names) or row.cell


def deciding(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the fewest axes that separate rows with different answers; empty if none do."""
    names = [name for name in rows[0].axes if len({row.axes[name] for row in rows}) > 1]
    for size in range(1, len(names) + 1):
        for some in itertools.combinations(names, size):
            pairs = {(place(row, some), same_in_total(row)) for row in rows}
            if len(pairs) == len({where for where, _ in pairs}):
                return some
    return ()
