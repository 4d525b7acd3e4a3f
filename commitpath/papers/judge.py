"""Compare the readings of each claim with the measurements: ratios, marks, verdicts."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from base.errors import LabError
from commitpath.cells.from_variables import make_cell
from commitpath.database.select import Run
from commitpath.papers import verdict
from commitpath.papers.paper import Claim, Paper
from commitpath.papers.readings import Pair, Reading, Side
from commitpath.reporting.statistics import median
from commitpath.results.marks import marks
from commitpath.results.metrics import METRICS
from commitpath.results.query import Results
from commitpath.sweep.grid import at_most
from model.cell import Cell


@dataclass(frozen=True)
class Value:
    """The value of one side with its cell, or the reason for its absence.

    interval: 95 % interval of the mean of its runs. gap: the verdict of a comparison without the value.
    """

    cell: Cell
    op: str
    value: float | None
    reason: str | None
    run: Run | None
    runs: int = 1
    interval: tuple[float, float] | None = None
    gap: str = verdict.MISSING


@dataclass(frozen=True)
class PairResult:
    """One comparison. ratio: left over right."""

    label: str
    left: Value
    right: Value
    ratio: float | None
    verdict: str
    marks: Mapping[str, str]


@dataclass(frozen=True)
class ReadingResult:
    """A reading's pairs, and their common verdict."""

    reading: Reading
    pairs: tuple[PairResult, ...]
    verdict: str


@dataclass(frozen=True)
class Artifact:
    """The claim's two cells in the authors' own runs: names, median TPS, ratio of means, transactions."""

    cells: tuple[str, str]
    tps: tuple[float, float]
    ratio: float
    transactions: tuple[int, int]


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, which is that of its first reading."""

    claim: Claim
    verdict: str
    readings: tuple[ReadingResult, ...]
    artifact: Artifact | None

    @property
    def others(self) -> tuple[str, ...]:
        """Return the verdicts of other readings that differ from the headline's."""
        verdicts = dict.fromkeys(result.verdict for result in self.readings[1:])
        return tuple(name for name in verdicts if name != self.verdict)

    @property
    def unmeasured(self) -> str | None:
        """Return why the requested cells cannot judge it, or None."""
        if self.verdict != verdict.NOT_MEASURED:
            return None
        return self.readings[0].reading.unmeasured or "some of its cells were not requested"

    @property
    def equal(self) -> bool:
        """Return whether it is a direction reproduced by equality: neither side is ahead in any pair."""
        if self.claim.kind != "direction" or self.verdict != verdict.REPRODUCED:
            return False
        ratios = [pair.ratio for pair in self.readings[0].pairs]
        return all(ratio is not None and verdict.side(ratio) == 0 for ratio in ratios)


def judge(paper: Paper, results: Results) -> list[Judged]:
    """Judge every claim of a paper."""
    return [judge_claim(paper, claim, results) for claim in paper.claims]


def judge_claim(paper: Paper, claim: Claim, results: Results) -> Judged:
    """Judge one claim in all its readings."""
    readings = tuple(judge_reading(claim, reading, results) for reading in claim.readings)
    artifact = of_artifact(paper, claim.artifact) if claim.artifact else None
    headline = verdict.NOT_TESTABLE if claim.not_testable else readings[0].verdict
    return Judged(claim, headline, readings, artifact)


def judge_reading(claim: Claim, reading: Reading, results: Results) -> ReadingResult:
    """Judge every pair of a reading, and the reading."""
    numbers = itertools.cycle(claim.expected.split("|"))
    pairs = tuple(
        judge_pair(claim, pair, expected, results, reading.unmeasured)
        for pair, expected in zip(reading.pairs, numbers, strict=False)
    )
    counted = pairs
    if reading.holds == "largest" and all(pair.ratio is not None for pair in pairs):
        counted = (max(pairs, key=lambda pair: pair.ratio or 0),)
    return ReadingResult(reading, pairs, verdict.over([pair.verdict for pair in counted]))


def judge_pair(
    claim: Claim, pair: Pair, expected: str, results: Results, unmeasured: str | None = None
) -> PairResult:
    """Judge one comparison. expected: the paper's value; unmeasured: why it cannot be judged."""
    if unmeasured and not METRICS[claim.metric].timed:
        left, right = (
            Value(side.takes[0][0], side.takes[0][1], None, unmeasured, None)
            for side in (pair.left, pair.right)
        )
        return PairResult(pair.label, left, right, None, verdict.NOT_MEASURED, {})
    left, right = (measure(side, claim.metric, results) for side in (pair.left, pair.right))
    if left.value is None or right.value is None:
        gap = verdict.over([value.gap for value in (left, right) if value.value is None])
        return PairResult(pair.label, left, right, None, gap, {})
    ratio = left.value / right.value
    if unmeasured:
        result = verdict.NOT_MEASURED
    elif claim.kind == "count":
        result = verdict.of_counts(left.value, right.value, expected)
    elif claim.kind == "limit":
        result = verdict.of_limit(left.value, expected)
    elif claim.kind == "direction":
        result = verdict.of_direction(ratio, expected)
    else:
        result = verdict.of_ratio(ratio, float(expected))
    unequal = marks(left.run, right.run) if left.run and right.run else {}
    return PairResult(pair.label, left, right, ratio, result, unequal)


def measure(side: Side, metric: str, results: Results) -> Value:
    """Return a side's value: of its only cell, or of the best or worst; none if any cell is missing."""
    values = [value_of(results, cell, metric, op) for cell, op in side.takes]
    if gaps := [value for value in values if value.value is None]:
        return max(gaps, key=lambda value: verdict.ORDER.index(value.gap))
    pick = min if side.pick == "worst" else max
    return pick(values, key=lambda value: value.value or 0)


def value_of(results: Results, cell: Cell, metric: str, op: str) -> Value:
    """Return a cell's value, or why its runs have none, such as a recovery that did not end."""
    found = results.find(cell)
    run = found.runs[-1] if found.runs else None
    gap = verdict.MISSING if found.asked else verdict.NOT_MEASURED
    try:
        number = found.number(metric, op)
    except LabError as error:
        return Value(cell, op, None, str(error), run, len(found.runs), None, gap)
    return Value(cell, op, number.value, found.reason, run, len(found.runs), number.interval, gap)


def of_artifact(paper: Paper, cells: tuple[str, str]) -> Artifact:
    """Compare two cells of the authors' spreadsheet by the ratio of means, as the paper does."""
    runs = [paper.artifact[cell] for cell in cells]
    rates = [[tps for tps, _ in of_cell] for of_cell in runs]
    means = [sum(of_cell) / len(of_cell) for of_cell in rates]
    return Artifact(
        cells, (median(rates[0]), median(rates[1])), means[0] / means[1], (runs[0][0][1], runs[1][0][1])
    )


def cell_of(paper: Paper, settings: Mapping[str, Any]) -> Cell:
    """Return the cell with a paper's constants, its first build, and these settings."""
    whole = at_most({**paper.constants, "sqlite": paper.builds[0], **settings}, paper.most)
    return make_cell({name.upper(): str(value) for name, value in whole.items()})
