"""The measured cells of a grid with crash points: what `make durability` draws and writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.trials import Trials
from commitpath.sweep.grid import Excluded

MEASURED = (
    *("TPS", "cuts", "lost worst", "lost mean", "lost worst ms", "lost mean ms"),
    *("zero", "stale", "unusable", "against promise", "promised"),
)


@dataclass(frozen=True)
class Row:
    """A measured cell: those of its settings that vary in the grid, its speed, and what cuts took.

    lacking: of the settings, those that its engine has not; they are empty. runs: what it is of.
    """

    settings: Mapping[str, str]
    tps: float
    trials: Trials
    promised: str
    lacking: frozenset[str] = frozenset()
    runs: Sequence[Run] = ()

    def columns(self) -> list[str]:
        """As MEASURED names them."""
        of = self.trials
        lost = ((of.worst, 0), (of.mean, 2), (of.worst_ms, 1), (of.mean_ms, 2))
        return [
            f"{self.tps:.1f}",
            str(of.cuts),
            *(select.NONE if value is None else f"{value:.{digits}f}" for value, digits in lost),
            *(select.NONE if value is None else str(value) for value in (of.zero, of.stale)),
            str(of.unusable),
            str(of.broken),
            self.promised,
        ]


@dataclass(frozen=True)
class Found:
    """What of a grid is measured. varied: axes that differ in it; unmeasured: why not → the settings of those
    cells, as of a row; beyond: those of them that are measured, and lose more than LOSS."""

    grid: str
    failure: str
    varied: list[str]
    rows: list[Row]
    unmeasured: Mapping[str, Sequence[Mapping[str, str]]]
    excluded: Sequence[Excluded]
    beyond: int = 0

    def caption(self) -> str:
        """How much of the grid is there, and what is not."""
        missing = "".join(f"; not drawn: {len(of)}, as {why}" for why, of in self.unmeasured.items())
        excluded = f"; the grid leaves out {len(self.excluded)}" if self.excluded else ""
        cuts = sorted({row.trials.cuts for row in self.rows})
        each = f"{cuts[0]} to {cuts[-1]}" if len(cuts) > 1 else str(cuts[0])
        total = len(self.rows) + sum(map(len, self.unmeasured.values()))
        known = len(self.rows) + self.beyond
        return (
            f"{known} of {total} cells of grid {self.grid} are measured, each by {each} cuts "
            f"({self.failure}){missing}{excluded}"
        )
