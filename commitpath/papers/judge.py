"""Judge a paper's claims by stored runs, in each interpretation: ratios of two cells, intervals, verdicts."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from base.errors import LabError
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import at_most
from commitpath.database.select import Run
from commitpath.papers import verdict
from commitpath.papers.paper import Claim, Paper
from commitpath.papers.readings import Pair, Reading, Side, of_engine
from commitpath.reporting import statistics
from commitpath.reporting.statistics import Sample
from commitpath.results.marks import marks
from commitpath.results.metrics import METRICS
from commitpath.results.metrics import number as metric_of
from commitpath.results.query import Results
from model.cell import Cell, sample


@dataclass(frozen=True)
class Value:
    """The value of one side with its cell, or the reason for its absence.

    interval: 95 % interval of the mean of its runs. gap: the verdict of a comparison without the value.
    samples: the value of each seed and board.
    """

    cell: Cell
    op: str
    value: float | None
    reason: str | None
    run: Run | None
    runs: int = 1
    interval: tuple[float, float] | None = None
    gap: str = verdict.MISSING
    samples: Mapping[Sample, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PairResult:
    """One comparison. ratio: left over right, None over 0; interval: of 95 %, as of make compare."""

    label: str
    left: Value
    right: Value
    ratio: float | None
    verdict: str
    marks: Mapping[str, str]
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class ReadingResult:
    """A reading's pairs, and their common verdict."""

    reading: Reading
    pairs: tuple[PairResult, ...]
    verdict: str


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, given by its first reading. artifact: of artifact_ratio."""

    claim: Claim
    verdict: str
    readings: tuple[ReadingResult, ...]
    artifact: Mapping[str, Any] | None

    @property
    def others(self) -> tuple[str, ...]:
        """Return the verdicts of other readings that differ from the headline's."""
        verdicts = dict.fromkeys(settled(self.claim, result.verdict) for result in self.readings[1:])
        return tuple(name for name in verdicts if name != self.verdict)

    @property
    def unmeasured(self) -> str | None:
        """Return why the requested cells cannot judge it, or None."""
        if self.verdict != verdict.NOT_MEASURED:
            return None
        return self.readings[0].reading.unmeasured or "some of its cells were not requested"

    @property
    def by_gap(self) -> bool:
        """Return whether a known gap of the model keeps it from being contradicted."""
        return self.verdict == verdict.NOT_DECIDED and self.readings[0].verdict == verdict.CONTRADICTED

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
    """Judge one claim in all its readings; the first reading's verdict is the claim's."""
    readings = tuple(judge_reading(claim, reading, results) for reading in claim.readings)
    artifact = artifact_ratio(paper, claim.artifact) if claim.artifact else None
    headline = verdict.NOT_TESTABLE if claim.not_testable else settled(claim, readings[0].verdict)
    return Judged(claim, headline, readings, artifact)


def settled(claim: Claim, name: str) -> str:
    """Return a claim's verdict: a claim with a known gap of the model is not decided, never contradicted."""
    return verdict.NOT_DECIDED if name == verdict.CONTRADICTED and "gap" in claim.texts else name


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
    claim: Claim, pair: Pair, expected: str, results: Results, unmeasured: str | None
) -> PairResult:
    """Judge one comparison. expected: the paper's value; unmeasured: why it cannot be judged."""
    sides = (pair.left, pair.right)
    if unmeasured and not METRICS[claim.metric].timed:
        left, right = (Value(*side.takes[0], None, unmeasured, None) for side in sides)
        return PairResult(pair.label, left, right, None, verdict.NOT_MEASURED, {})
    left, right = (measure(side, claim.metric, results) for side in sides)
    if left.value is None or right.value is None:
        gap = verdict.over([value.gap for value in (left, right) if value.value is None])
        return PairResult(pair.label, left, right, None, gap, {})
    unequal = marks(left.run, right.run) if left.run and right.run else {}
    ratio = left.value / right.value if right.value else None
    interval = interval_of(left, right) if ratio is not None else None
    result = verdict.judge(claim.kind, left.value, right.value, expected)
    if interval and claim.kind in ("ratio", "direction"):
        result = verdict.within(interval, result, claim.kind, expected)
    if unmeasured:
        result = verdict.NOT_MEASURED
    return PairResult(pair.label, left, right, ratio, result, unequal, interval)


def interval_of(left: Value, right: Value) -> tuple[float, float] | None:
    """Return the 95 % interval of left over right; None without enough samples of both."""
    if min(len(left.samples), len(right.samples)) < 2:
        return None
    if left.cell.clock == "virtual":
        found = statistics.paired(right.samples, left.samples, verdict.EQUAL).interval
    else:
        sides = [list(value.samples.values()) for value in (right, left)]
        found = statistics.unpaired(sides[0], sides[1], verdict.EQUAL).interval
    # as on the page, of 95 %: two against two runs on a real clock reach less
    return (found.low, found.high) if found and found.confidence >= 1 - statistics.LEVEL else None


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
    value, interval, reason, values = None, None, found.reason, dict[Sample, float]()
    try:
        number = found.number(metric, op)
        value, interval = number.value, number.interval
        values = {sample(one.cell, one.facts["run"]): metric_of(one, metric, op) for one in found.runs}
    except LabError as error:
        reason = str(error)
    gap = verdict.MISSING if found.asked else verdict.NOT_MEASURED
    run = found.runs[-1] if found.runs else None
    return Value(cell, op, value, reason, run, len(found.runs), interval, gap, values)


def artifact_ratio(paper: Paper, cells: tuple[str, str]) -> dict[str, Any]:
    """Compare two cells of the authors' spreadsheet by the ratio of means, as the paper does.

    Return their names, median TPS, ratio and numbers of transactions.
    """
    runs = [paper.artifact[cell] for cell in cells]
    rates = [[tps for tps, _ in of_cell] for of_cell in runs]
    left, right = (sum(of_cell) / len(of_cell) for of_cell in rates)
    return {
        "cells": cells,
        "tps": tuple(map(median, rates)),
        "ratio": left / right,
        "transactions": tuple(of_cell[0][1] for of_cell in runs),
    }


def cell_of(paper: Paper, settings: Mapping[str, Any]) -> Cell:
    """Return the cell with a paper's constants, its first build, and these settings."""
    whole = at_most(of_engine({**paper.constants, "sqlite": paper.builds[0], **settings}), paper.most)
    return make_cell({name.upper(): str(value) for name, value in whole.items()})
