"""Dataclasses Row and Found of `make durability`: a grid's cells with TPS and crash trials; CSV columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.trials import Trials
from commitpath.results.marks import MARKED, footnotes, kernels
from commitpath.sweep.grid import Excluded

MEASURED = (
    *("TPS", "cuts", "lost worst", "lost mean", "lost worst ms", "lost mean ms"),
    *("zero", "stale", "unusable", "against promise", "promised"),
)


@dataclass(frozen=True)
class Row:
    """A measured cell: its settings that vary in the grid, its speed, and what cuts took.

    lacking: the settings that its engine lacks; they are empty. runs: the runs that were measured.
    """

    settings: Mapping[str, str]
    tps: float
    trials: Trials
    promised: str
    lacking: frozenset[str] = frozenset()
    runs: Sequence[Run] = ()

    @property
    def mark(self) -> str:
        """The mark of runs with caveats, or empty."""
        return MARKED if any(run.marks for run in self.runs) else ""

    def columns(self) -> list[str]:
        """Return the values of MEASURED."""
        trials = self.trials
        lost = ((trials.worst, 0), (trials.mean, 2), (trials.worst_ms, 1), (trials.mean_ms, 2))
        return [
            f"{self.tps:.1f}",
            str(trials.cuts),
            *(select.NONE if value is None else f"{value:.{digits}f}" for value, digits in lost),
            *(select.NONE if value is None else str(value) for value in (trials.zero, trials.stale)),
            str(trials.unusable),
            str(trials.broken),
            self.promised,
        ]


@dataclass(frozen=True)
class Found:
    """The measured cells of a grid. varied: axes that differ in it.

    unmeasured: reason → the settings of those cells, as of a row. beyond: how many of them are measured, and
    lose more than LOSE_AT_MOST.
    """

    grid: str
    failure: str
    varied: list[str]
    rows: list[Row]
    unmeasured: Mapping[str, Sequence[Mapping[str, str]]]
    excluded: Sequence[Excluded]
    beyond: int = 0

    def caption(self) -> str:
        """Return how many cells are measured, and why others are not."""
        missing = "".join(f"; not drawn: {len(cells)}, as {why}" for why, cells in self.unmeasured.items())
        excluded = f"; the grid leaves out {len(self.excluded)}" if self.excluded else ""
        total = len(self.rows) + sum(map(len, self.unmeasured.values()))
        return (
            f"{len(self.rows) + self.beyond} of {total} cells of grid {self.grid} are measured, each by "
            f"{cuts(self.rows)} cuts ({self.failure}){missing}{excluded}{caveats(self.rows)}"
        )


def caveats(rows: Sequence[Row]) -> str:
    """Return the caveats of the runs, for a caption; empty without any."""
    runs = [run for row in rows for run in row.runs]
    return "".join(f"; {note}" for note in [*footnotes(runs), *kernels(runs)])


def cuts(rows: Sequence[Row]) -> str:
    """Return the number of cuts of each cell, or its range."""
    numbers = sorted({row.trials.cuts for row in rows})
    return " to ".join(dict.fromkeys(str(number) for number in (numbers[0], numbers[-1])))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table in Markdown."""
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]
