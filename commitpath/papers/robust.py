"""`make reproduce … ROBUST=yes`: judge claims with other settings; find which change or explain a verdict.

The headline of each claim is judged again with settings of paper.yml's `robust` changed on both sides of each
comparison: other devices, used ones, seeds, boards, CPUs. A verdict that never changes is robust; another one
depends on the axes that change it. A contradicted claim is also judged with each of `explain`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from base.errors import BadInputError
from commitpath.cells.grid import GridRun
from commitpath.cells.identities import cell_id
from commitpath.papers import judge, verdict
from commitpath.papers.paper import Claim
from commitpath.papers.request import Request, cells_of
from commitpath.papers.variations import Variation, explanations, variations
from commitpath.results.query import Results
from model.cell import SAMPLED, Cell

ROBUST = "robust"
UNKNOWN = (verdict.MISSING, verdict.NOT_MEASURED)
# Verdicts that depend on nothing here.
WITHOUT = (verdict.NOT_TESTABLE, verdict.NOT_DECIDED, *UNKNOWN)
# What explanations are tried for, and what they turn it into.
CONTRADICTED = (verdict.CONTRADICTED, verdict.NOT_DECIDED)
TURNED = (verdict.REPRODUCED, verdict.DIRECTION)


@dataclass(frozen=True)
class Outcome:
    """A claim's headline in one variation.

    ratios: of its pairs; reason: why it has no verdict; applies: whether the variation can be made, and
    changes a cell of the claim.
    """

    variation: Variation
    verdict: str
    ratios: tuple[float, ...]
    reason: str | None
    applies: bool = True

    @property
    def missing(self) -> bool:
        """Return whether a run is missing, failed, or was not requested."""
        return self.verdict in UNKNOWN

    @property
    def counts(self) -> bool:
        """Return whether it has a verdict of its own."""
        return self.applies and not self.missing


@dataclass(frozen=True)
class Row:
    """A claim with its outcomes, the paper's own place first. tried: those of the explanations."""

    claim: str
    statement: str
    outcomes: tuple[Outcome, ...]
    tried: tuple[Outcome, ...] = ()

    @property
    def verdict(self) -> str:
        """Return the claim's verdict in the paper's own place."""
        return self.outcomes[0].verdict

    @property
    def of_null(self) -> bool:
        """Return whether the null model has the claim's verdict, too."""
        return self.decided and any(o.variation.null and o.verdict == self.verdict for o in self.outcomes)

    @property
    def decided(self) -> bool:
        """Return whether the claim has a verdict that may depend on something."""
        return self.verdict not in WITHOUT

    @property
    def missing(self) -> list[Outcome]:
        """Return the outcomes without a run."""
        return [outcome for outcome in self.outcomes if outcome.missing]

    def base(self, outcome: Outcome) -> Outcome:
        """Return the outcome that one is compared with: that with most of its settings, but fewer."""
        settings = outcome.variation.settings.items()
        return max(
            (o for o in self.outcomes if o.counts and o.variation.settings.items() < settings),
            key=lambda o: len(o.variation.settings),
            default=self.outcomes[0],
        )

    @property
    def depends(self) -> dict[tuple[str, ...], list[str]]:
        """Return the axes that change the verdict → each of their values with the other verdict.

        Neither the null model nor missing outcomes count.
        """
        found: dict[tuple[str, ...], list[str]] = {}
        for outcome in self.outcomes[1:]:
            base = self.base(outcome)
            if not outcome.counts or outcome.variation.null or outcome.verdict == base.verdict:
                continue
            changed = dict(outcome.variation.settings.items() - base.variation.settings.items())
            names = tuple(name for name in outcome.variation.settings if name in changed)
            within = f" with {base.variation.name}" if base.variation.settings else ""
            values = " ".join(changed[name] for name in names)
            found.setdefault(names, []).append(f"{values}{within}: {outcome.verdict}")
        return found

    @property
    def words(self) -> str:
        """Return `robust` or `depends on …`; with missing runs neither, unless it depends already."""
        if not self.decided:
            return "-"
        parts = []
        for start, of_samples in (("depends on", False), ("depends on chance:", True)):
            texts = [
                f"{' and '.join(names)} ({', '.join(changed)})"
                for names, changed in self.depends.items()
                if set(SAMPLED).issuperset(names) == of_samples
            ]
            parts += [f"{start} {'; '.join(texts)}"] if texts else []
        if not parts and self.missing:
            return f"unknown: {len(self.missing)} of {len(self.outcomes)} settings lack runs"
        return "; ".join(parts) or ROBUST

    @property
    def stored(self) -> bool:
        """Return whether a variation has its runs."""
        return any(outcome.counts for outcome in self.outcomes[1:])

    @property
    def over_fits(self) -> tuple[float, float] | None:
        """Return the least and largest ratio over all fits of the device; None if another fit lacks runs."""
        fits = [outcome for outcome in self.outcomes if outcome.variation.fit]
        if not fits or not all(outcome.ratios for outcome in (self.outcomes[0], *fits)):
            return None
        every = [ratio for outcome in (self.outcomes[0], *fits) for ratio in outcome.ratios]
        return min(every), max(every)

    @property
    def turned(self) -> list[Outcome]:
        """Return the explanations that turn a contradicted claim, if what they add to does not."""
        return [o for o in self.tried if o.verdict in TURNED and self.base(o).verdict not in TURNED]

    @property
    def explained(self) -> str:
        """Return what turns a contradicted claim; empty for another one."""
        tried = [outcome for outcome in self.tried if outcome.applies]
        if self.verdict not in CONTRADICTED or not tried:
            return ""
        names = ", ".join(f"{outcome.variation.name} ({outcome.verdict})" for outcome in self.turned)
        lacking = sum(outcome.missing for outcome in tried)
        text = f"turned by {names}" if names else f"turned by none of {len(tried) - lacking} explanations"
        return f"{text}; {lacking} of {len(tried)} lack runs" if lacking else text


def cells(claim: Claim) -> dict[str, Cell]:
    """Return the cells of a claim's headline by id."""
    pairs = claim.readings[0].pairs if claim.readings and not claim.not_testable else ()
    every = [cell for pair in pairs for cell, _ in (*pair.left.takes, *pair.right.takes)]
    return {cell_id(cell): cell for cell in every}


def chosen(request: Request) -> list[Claim]:
    """Return the claims that the cells of the requested figures decide; without figures all.

    Raises BadInputError if there are none.
    """
    every = request.load().claims
    drawn = {cell_id(cell) for cell in cells_of(request)} if request.figures else None
    found = [claim for claim in every if drawn is None or (cells(claim) and drawn >= cells(claim).keys())]
    if not found:
        raise BadInputError(f"FIGURE={' '.join(request.figures)}: no claim has all its cells there")
    return found


def planned(request: Request) -> list[GridRun]:
    """Return the runs of all variations: one of each cell."""
    return runs(request, variations(request.load()), {claim.id for claim in chosen(request)})


def explaining(request: Request, rows: Sequence[Row]) -> list[GridRun]:
    """Return the runs of all explanations, of the contradicted claims only."""
    contradicted = {row.claim for row in rows if row.verdict in CONTRADICTED}
    return runs(request, explanations(request.load()), contradicted)


def runs(request: Request, varied: Sequence[Variation], claims: set[str]) -> list[GridRun]:
    """Return a run of each cell of some claims in each variation."""
    found: dict[str, Cell] = {}
    for variation in varied:
        for claim in request.load(variation.change).claims:
            found |= cells(claim) if claim.id in claims else {}
    return [GridRun(f"{request.paper}-robust", cell, 1, cell) for cell in found.values()]


def judged(request: Request, results: Results) -> list[Row]:
    """Judge the headline of each claim in each variation, and contradicted ones with each explanation."""
    paper = request.load()
    own = {claim.id: claim for claim in chosen(request)}
    outcomes: dict[str, list[Outcome]] = {name: [] for name in own}
    tried: dict[str, list[Outcome]] = {name: [] for name in own}
    for variation in variations(paper):
        for claim in request.load(variation.change).claims:
            if claim.id in own:
                outcomes[claim.id].append(outcome(claim, variation, results))
    contradicted = [name for name, found in outcomes.items() if found[0].verdict in CONTRADICTED]
    for explanation in explanations(paper) if contradicted else []:
        for claim in request.load(explanation.change).claims:
            if claim.id in contradicted:
                applies = cells(claim).keys() != cells(own[claim.id]).keys()
                tried[claim.id].append(outcome(claim, explanation, results, applies))
    return [
        Row(name, claim.statement, tuple(outcomes[name]), tuple(tried[name])) for name, claim in own.items()
    ]


def outcome(claim: Claim, variation: Variation, results: Results, applies: bool = True) -> Outcome:
    """Judge a claim's headline in a variation."""
    if claim.not_testable:
        return Outcome(variation, verdict.NOT_TESTABLE, (), claim.not_testable, applies=False)
    result = judge.judge_reading(claim, claim.readings[0], results)
    sides = [side for pair in result.pairs for side in (pair.left, pair.right)]
    reason = next((side.reason for side in sides if side.value is None), None)
    ratios = [pair.ratio for pair in result.pairs]
    whole = tuple(ratio for ratio in ratios if ratio is not None)
    # what the explanations turn is the measured verdict
    name = result.verdict if variation.label else judge.settled(claim, result.verdict)
    return Outcome(variation, name, whole if len(whole) == len(ratios) else (), reason, applies)
