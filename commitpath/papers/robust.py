"""`make reproduce PAPER=… ROBUST=yes`: what a paper's verdicts depend on.

The headline of each claim is judged again with one setting of paper.yml's `robust` changed at a time, on both
sides of each comparison: other devices, seeds, CPUs. A verdict that never changes is robust; another one
depends on the axes that change it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, FileSystemLoader

from analysis.report import html_page
from base.errors import BadInputError
from base.text import printable_lines
from commitpath.cells.axes import axes
from commitpath.cells.identities import cell_id
from commitpath.papers import judge, verdict
from commitpath.papers.paper import Claim, Paper
from commitpath.papers.request import Request
from commitpath.papers.texts import number
from commitpath.results.query import Results
from commitpath.sweep.grid import GridRun
from model.cell import Cell

COLUMNS = ("claim", "axis", "value", "verdict", "ratio", "reason")
ROBUST = "robust"


@dataclass(frozen=True)
class Variation:
    """One changed setting; axis "" is the paper's own place. null: the null model of the device."""

    axis: str
    value: str
    null: bool = False

    @property
    def name(self) -> str:
        """Return `axis=value`."""
        return f"{self.axis}={self.value}" if self.axis else "as reproduced"


@dataclass(frozen=True)
class Outcome:
    """A claim's headline in one variation. ratios: of its pairs; reason: why it has no verdict."""

    variation: Variation
    verdict: str
    ratios: tuple[float, ...]
    reason: str | None


@dataclass(frozen=True)
class Row:
    """A claim with its outcomes, that of the paper's own place first."""

    claim: str
    statement: str
    outcomes: tuple[Outcome, ...]

    @property
    def verdict(self) -> str:
        """Return the claim's verdict in the paper's own place."""
        return self.outcomes[0].verdict

    @property
    def depends(self) -> dict[str, list[Outcome]]:
        """Return the outcomes with another verdict, by axis; without the null model's and missing ones."""
        found: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes[1:]:
            if outcome.verdict not in (self.verdict, verdict.MISSING) and not outcome.variation.null:
                found.setdefault(outcome.variation.axis, []).append(outcome)
        return found

    @property
    def of_null(self) -> bool:
        """Return whether the null model has the claim's verdict, too."""
        return any(o.variation.null and o.verdict == self.verdict for o in self.outcomes)

    @property
    def missing(self) -> list[Outcome]:
        """Return the outcomes without a run."""
        return [outcome for outcome in self.outcomes if outcome.verdict == verdict.MISSING]

    @property
    def words(self) -> str:
        """Return `robust` or `depends on …`; with missing runs neither, unless it depends already."""
        if self.verdict in (verdict.NOT_TESTABLE, verdict.NOT_MEASURED, verdict.MISSING):
            return "-"
        if self.depends:
            return "depends on " + "; ".join(
                f"{axis} ({', '.join(f'{o.variation.value}: {o.verdict}' for o in changed)})"
                for axis, changed in self.depends.items()
            )
        return (
            f"unknown: {len(self.missing)} of {len(self.outcomes)} settings lack runs"
            if self.missing
            else ROBUST
        )


def variations(paper: Paper) -> list[Variation]:
    """Return the paper's own place, then each variation of paper.yml. Raises BadInputError without any."""
    if not paper.robust:
        raise BadInputError(f"ROBUST=yes: {paper.name}/paper.yml has no `robust`, which lists what to vary")
    found = [Variation("", "")]
    for axis, values in paper.robust["null"].items():
        found.append(Variation(axis, str(values), null=True))
    for axis, values in paper.robust["vary"].items():
        if axis not in axes():
            raise BadInputError(f"{paper.name}/paper.yml: robust.vary: {axis} is no axis")
        found += [Variation(axis, str(value)) for value in values]
    return found


def papers(request: Request) -> Iterator[tuple[Variation, Paper]]:
    """Yield each variation with the paper there."""
    for variation in variations(request.load()):
        changed = {variation.axis.upper(): variation.value} if variation.axis else {}
        yield variation, request.load(changed)


def cells(paper: Paper) -> list[Cell]:
    """Return the cells of the headlines of a paper's claims, each once."""
    found: dict[str, Cell] = {}
    for claim in paper.claims:
        for pair in claim.readings[0].pairs if claim.readings and not claim.not_testable else ():
            for cell, _ in (*pair.left.takes, *pair.right.takes):
                found.setdefault(cell_id(cell), cell)
    return list(found.values())


def planned(request: Request) -> list[GridRun]:
    """Return the runs of all variations: one of each cell."""
    grid = f"{request.paper}-robust"
    return [GridRun(grid, cell, 1, cell) for _, paper in papers(request) for cell in cells(paper)]


def judged(request: Request, results: Results) -> list[Row]:
    """Judge the headline of each claim in each variation."""
    outcomes: dict[str, list[Outcome]] = {}
    statements: dict[str, str] = {}
    for variation, paper in papers(request):
        for claim in paper.claims:
            statements[claim.id] = claim.statement
            outcomes.setdefault(claim.id, []).append(outcome(claim, variation, results))
    return [Row(name, statements[name], tuple(found)) for name, found in outcomes.items()]


def outcome(claim: Claim, variation: Variation, results: Results) -> Outcome:
    """Judge a claim's headline."""
    if claim.not_testable:
        return Outcome(variation, verdict.NOT_TESTABLE, (), claim.not_testable)
    result = judge.judge_reading(claim, claim.readings[0], results)
    sides = [side for pair in result.pairs for side in (pair.left, pair.right)]
    reason = next((side.reason for side in sides if side.value is None), None)
    ratios = [pair.ratio for pair in result.pairs]
    whole = tuple(ratio for ratio in ratios if ratio is not None)
    return Outcome(variation, result.verdict, whole if len(whole) == len(ratios) else (), reason)


def ratios(outcome: Outcome) -> str:
    """Return the ratios of an outcome: one, or the lowest and the highest."""
    if not outcome.ratios:
        return "-"
    ends = dict.fromkeys(number(ratio) for ratio in (min(outcome.ratios), max(outcome.ratios)))
    return " to ".join(ends)


def write(request: Request, rows: Sequence[Row], folder: Path) -> int:
    """Write robust.html, robust.json and robust.csv; print a line for each claim.

    Return how many outcomes lack a run.
    """
    environment = html_page.environment()
    here = FileSystemLoader(Path(__file__).parent)
    environment.loader = ChoiceLoader([here, environment.loader] if environment.loader else [here])
    environment.filters["ratios"] = ratios
    page = environment.get_template("robust.html.j2").render(
        rows=rows, command=request.command, columns=rows[0]
    )
    (folder / "robust.html").write_text(page, encoding="utf-8")
    (folder / "robust.json").write_text(json.dumps([document(row) for row in rows], indent=2) + "\n")
    with (folder / "robust.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows:
            for each in row.outcomes:
                place = (each.variation.axis, each.variation.value)
                writer.writerow([row.claim, *place, each.verdict, ratios(each), each.reason or ""])
    print(printable_lines(terminal(rows)))
    return sum(len(row.missing) for row in rows)


def document(row: Row) -> Mapping[str, Any]:
    """Return a row of robust.json."""
    return {
        "claim": row.claim,
        "verdict": row.verdict,
        "depends": row.words,
        "null_model_too": row.of_null,
        "outcomes": [
            {
                "setting": each.variation.name,
                "verdict": each.verdict,
                "ratios": each.ratios,
                "reason": each.reason,
            }
            for each in row.outcomes
        ],
    }


def terminal(rows: Sequence[Row]) -> list[str]:
    """Return a line for each claim, and the number of robust ones."""
    lines = []
    for row in rows:
        too = "; the null model has this verdict, too" if row.of_null and row.words != "-" else ""
        lines.append(f"{row.claim}  {row.verdict.ljust(15)}  {row.words}{too}".rstrip())
    decided = [row for row in rows if row.words != "-"]
    steady = sum(row.words == ROBUST for row in decided)
    of_null = sum(row.of_null for row in decided)
    over = f"robust over {len(rows[0].outcomes) - 1} variations"
    lines.append(f"{len(decided)} verdicts: {steady} {over}; the null model has {of_null} of them, too")
    return lines
