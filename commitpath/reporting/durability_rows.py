"""Format a grid's cells for `make durability` (TPS, crash trials): CSV columns, names, caption, table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.report.terminal import seconds
from base.text import filled, rows_by_place
from commitpath.cells.axes import shown
from commitpath.cells.grid import Excluded
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.trials import Trials
from commitpath.results.marks import MARKED, footnotes, kernels
from model import engines

ENGINE = "engine"
# Settings shown as their value alone, in capitals.
WORDS = ("journal_mode", "synchronous")
Settings = Mapping[str, str]

MEASURED = (
    *("TPS", "cuts", "lost worst", "lost mean", "lost worst ms", "lost mean ms"),
    *("zero", "stale", "unusable", "against promise", "promised"),
)
KEY = (
    "most lost: acknowledged transactions in the worst cut (time of the run), or ✗ and the cuts that left no "
    "usable database; !: against the promise of the settings"
)


def rounded(value: float | None, digits: int) -> str:
    """Return a number as text."""
    return select.NONE if value is None else f"{value:.{digits}f}"


@dataclass(frozen=True)
class Row:
    """A measured cell: its settings that vary in the grid, its speed, and what cuts took.

    lacking: the settings that its engine lacks; they are empty. runs: the runs that were measured.
    """

    settings: Settings
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
            *(rounded(value, digits) for value, digits in lost),
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
    unmeasured: Mapping[str, Sequence[Settings]]
    excluded: Sequence[Excluded]
    beyond: int = 0

    def caption(self) -> str:
        """Return how many cells are measured, and why others are not."""
        missing = "".join(f"; not drawn: {len(cells)}, as {why}" for why, cells in self.unmeasured.items())
        excluded = f"; the grid leaves out {len(self.excluded)}" if self.excluded else ""
        total = len(self.rows) + sum(map(len, self.unmeasured.values()))
        runs = [run for row in self.rows for run in row.runs]
        caveats = "".join(f"; {note}" for note in [*footnotes(runs), *kernels(runs)])
        return (
            f"{len(self.rows) + self.beyond} of {total} cells of grid {self.grid} are measured, each by "
            f"{cuts(self.rows)} cuts ({self.failure}){missing}{excluded}{caveats}"
        )


def cuts(rows: Sequence[Row]) -> str:
    """Return the number of cuts of each cell, or its range."""
    numbers = sorted({row.trials.cuts for row in rows})
    return " to ".join(dict.fromkeys(str(number) for number in (numbers[0], numbers[-1])))


def place_of(settings: Settings) -> str:
    """Return the settings that belong to no engine: a panel."""
    return " ".join(
        shown(axis, value)
        for axis, value in settings.items()
        if axis not in {*engines.axes(), ENGINE} and value
    )


def name_of(settings: Settings, every: Sequence[Settings]) -> str:
    """Return a cell's engine, and the settings in which cells of that engine differ: SQLite WAL/FULL."""
    alike = [other for other in every if other.get(ENGINE) == settings.get(ENGINE)]
    varied = [
        axis for axis in settings if axis in engines.axes() and len({other[axis] for other in alike}) > 1
    ]
    words = "/".join(settings[axis].upper() for axis in WORDS if axis in varied)
    others = [f"{axis}={settings[axis]}" for axis in varied if axis not in WORDS and settings[axis]]
    engine = engines.by_name(settings[ENGINE]).TITLE if ENGINE in settings else ""
    return " ".join(filter(None, [engine, words, *others]))


def took(trials: Trials) -> str:
    """Return the most that the cuts took, as KEY explains it."""
    spans = trials.usable and trials.worst and trials.worst_ms is not None
    time = f" ({seconds(trials.worst_ms or 0)})" if spans else ""
    return f"{trials.short()}{time}{' !' * bool(trials.broken)}"


def lines(found: Found) -> list[str]:
    """Return the measured cells as a table."""
    every = [row.settings for row in found.rows] + [one for some in found.unmeasured.values() for one in some]
    rows = [
        (
            place_of(row.settings),
            (f"{row.tps:.1f}", took(row.trials), rounded(row.trials.mean, 2)),
            f"{name_of(row.settings, every)} {row.mark}".strip(),
        )
        for row in found.rows
    ]
    return [*rows_by_place(("TPS", "most lost", "mean lost"), "settings", rows), *filled(KEY)]
