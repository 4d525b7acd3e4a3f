"""Choose a cell's runs that count in results.sqlite, or give why none does; their medians, intervals, causes.

A metric over runs is a median, a range and an interval. A cell's Causes (counts, bytes by label) are those of
the watched run with the nearest n.
"""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from analysis.stats import spread
from base.errors import BadInputError
from base.identity import contents
from base.text import did_you_mean
from commitpath.cells.axes import axes, own_name
from commitpath.cells.identities import cell_id
from commitpath.command_line.stored_run import SHIPPED
from commitpath.database import row_checks, select, store, sync
from commitpath.database.select import Run
from commitpath.results import metrics
from commitpath.results.distinct_runs import samples
from commitpath.results.marks import transactions, transactions_by_op
from model import engines
from model.cell import SAMPLED, Cell, sample

# (grid, settings, reason) of cells that grids leave out.
Excluded = Sequence[tuple[str, Mapping[str, str], str]]
# The reason of a cell without a run in any lab.
NOT_RUN = "it was not run"
COUNTS = ("syncs", "flushes", "fua", "block_writes", "bytes_written")


class Number(NamedTuple):
    """A metric over runs: median, minimum, maximum. interval: 95 % of the mean, from two runs on."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def top(self) -> float:
        """Return the highest drawn value: the maximum, or the interval's end."""
        return max(self.high or 0.0, self.interval[1] if self.interval else 0.0)


@dataclass(frozen=True)
class Found:
    """The runs of a cell that count. state: ok, failed, missing or excluded; reason: why it is not ok.

    asked: whether the cell was requested; tried: its runs if none counts. labs: those that have runs of it
    which are not counted, if there are no others.
    """

    state: str
    reason: str | None
    runs: Sequence[Run] = ()
    tried: Sequence[Run] = ()
    grids: tuple[str, ...] = ()
    asked: bool = True
    labs: Sequence[str] = ()

    def number(self, metric: str, op: str) -> Number:
        """Return a metric of the runs; empty if none counts. LabError if a run has no such number."""
        values = [metrics.number(run, metric, op) for run in self.runs]
        if not values:
            return Number()
        taken = [sample(run.cell, run.facts["run"]) for run in self.runs]
        return Number(statistics.median(values), min(values), max(values), spread.interval(values, taken))

    def transactions(self, op: str) -> int | None:
        """Return the number of transactions of an operation in the newest run; None without a run.

        None also for an operation of a mixed phase if the run's files are not here.
        """
        if not self.runs:
            return None
        newest = self.runs[-1]
        if op == metrics.WHOLE or op not in newest.summary["tps"]:
            return transactions(newest)
        counts = transactions_by_op(newest)
        return None if counts is None else counts.get(op)


@dataclass(frozen=True)
class Causes:
    """The means of COUNTS and of bytes by label per transaction of an operation, in a watched run.

    For `all`, COUNTS except syncs are the window's per transaction, with the final checkpoint; bytes by label
    are those attributed to a transaction.
    """

    run: Run
    counts: Mapping[str, float]
    bytes_by_label: Mapping[str, float]


class Results:
    """The runs that count, by cell. every: the runs of all labs; lab: the label of this one."""

    def __init__(
        self,
        every: Sequence[Run],
        lab: str,
        excluded: Excluded = (),
        asked: Set[str] | None = None,
        samples: Mapping[str, Sequence[Cell]] | None = None,
        counted: Sequence[Run] | None = None,
    ) -> None:
        """asked: ids of the requested cells; None for all. samples: a cell's id → its seeds and boards.

        counted: the runs to count, those of the lab by default.
        """
        self.every, self.lab = every, lab
        self.counted = [run for run in every if run.facts["lab"] == lab] if counted is None else counted
        self.excluded, self.asked, self.samples = list(excluded), asked, samples or {}
        self.by_cell: dict[str, list[Run]] = {}
        # marked runs of requested cells: they do not count
        self.left_out: dict[str, Run] = {}
        self._watched: dict[tuple[str, ...], list[Run]] = {}
        for run in self.counted:
            self.by_cell.setdefault(run.cell_id, []).append(run)
            if self._counts(run) and run.summary.get("ledger"):
                self._watched.setdefault(unwatched(run.cell), []).append(run)

    def of_lab(self, lab: str | None) -> Results:
        """Return the runs of a lab; without one those of this lab, and shipped runs of other cells.

        A shipped run with another profile than the present one of that name is left out. Raises BadInputError
        for a lab without runs.
        """
        labs = sorted({self.lab, *(run.facts["lab"] for run in self.every)})
        if lab is not None and lab not in labs:
            near = did_you_mean(lab, labs)
            raise BadInputError(f"LAB={lab}: {near}it has no runs; there are {', '.join(labs)}")
        here = {run.cell_id for run in self.counted if self._counts(run)}
        shipped = [
            run
            for run in self.every
            if run.facts["lab"] == SHIPPED != self.lab
            and {*run.marks} <= {select.UNVERIFIED}
            and run.cell_id not in here
        ]
        theirs = [run for run in self.every if run.facts["lab"] == lab]
        return Results(self.every, self.lab, counted=theirs if lab else [*self.counted, *shipped])

    def _counts(self, run: Run) -> bool:
        """Return whether a run is ok; those of this lab must have no mark, others are shown with it."""
        return run.facts["status"] == "ok" and not (run.marks and run.facts["lab"] == self.lab)

    def swept(self, grids: Set[str], cells: Iterable[Cell]) -> dict[str, list[Cell]]:
        """Return `samples` of cells: also the seeds and boards of SEEDS and BOARDS of these grids' sweeps."""
        several: dict[str, list[Cell]] = {}
        for run in self.counted:
            if run.grids & grids:
                several.setdefault(unsampled(run.cell), []).append(run.cell)
        return {cell_id(cell): [cell, *several.get(unsampled(cell), ())] for cell in cells}

    @functools.cached_property
    def elsewhere(self) -> Mapping[str, Set[str]]:
        """Cell id → the labs with ok runs that are not counted."""
        labs: dict[str, set[str]] = {}
        for run in self.every:
            if run.facts["lab"] != self.lab and run.facts["status"] == "ok":
                labs.setdefault(run.cell_id, set()).add(run.facts["lab"])
        return labs

    def find(self, *cells: Cell) -> Found:
        """Return the runs of a cell that count, or the reason for none. cells: its samples."""
        cells = tuple(one for cell in cells for one in self.samples.get(cell_id(cell), [cell]))
        runs = [run for cell in cells for run in self.by_cell.get(cell_id(cell), [])]
        good = [run for run in runs if run.facts["status"] == "ok"]
        counting = [run for run in good if self._counts(run)]
        marked = [run for run in good if not self._counts(run)]
        grids = tuple(sorted({grid for run in runs for grid in run.grids}))
        self.left_out |= {f"{run.facts['cell']}/{run.facts['run']}": run for run in marked}
        if counting:
            # of shipped runs with other seeds none, if there are own ones
            own = [run for run in counting if run.facts["lab"] == self.lab]
            return Found("ok", None, samples(own or counting), (), grids)
        if marked:
            return Found("failed", f"left out: {'; '.join(marked[-1].marks)}", (), runs, grids)
        if runs:
            reason = f"{runs[-1].facts['status']}: {'; '.join(runs[-1].reasons)}"
            return Found("failed", reason, (), runs, grids)
        for grid, settings, reason in self.excluded:
            if any(is_cell(settings, cell) for cell in cells):
                return Found("excluded", reason, grids=(grid,))
        if self.asked is not None and not self.asked & {cell_id(cell) for cell in cells}:
            return Found("excluded", "it was not asked for", asked=False)
        labs = sorted({lab for cell in cells for lab in self.elsewhere.get(cell_id(cell), ())})
        elsewhere = f" here, but by lab {', '.join(labs)}" if labs else ""
        return Found("missing", f"{NOT_RUN}{elsewhere}", labs=labs)

    def watched(self, cell: Cell, stored: bool = False) -> Run | None:
        """Return a watched run with equal settings but probes and n, or None.

        Of several it is the newest of those with the nearest n, of this lab if it has any. stored: only runs
        with files here.
        """
        runs = [run for run in self._watched.get(unwatched(cell), []) if run.path or not stored]
        return min(
            reversed(runs),
            key=lambda run: (abs(int(run.settings["n"]) - int(cell.n)), run.facts["lab"] != self.lab),
            default=None,
        )

    def causes(self, cell: Cell, op: str) -> Causes | None:
        """Return the Causes of a cell's watched run; None without one, and for a mix."""
        run = self.watched(cell)
        if run is None or ":" in op:
            return None
        # how often each operation of a mix ran is in the run's files alone
        if not run.path and metrics.value(run, "syncs", op) is None:
            return None
        counts = {name: metrics.number(run, name, op) for name in COUNTS}
        return Causes(run, counts, run.summary["ledger"]["per_transaction"][op])


def unsampled(cell: Cell) -> str:
    """Return a key that is equal for the samples of a cell."""
    first: dict[str, Any] = dict.fromkeys(SAMPLED, 1)
    return cell_id(replace(cell, **first))


def unwatched(cell: Cell) -> tuple[str, ...]:
    """Return the settings of a cell without its probes and its number of transactions."""
    settings = sorted(f"{name}={value}" for name, value in cell.axes() if name not in ("probes", "n"))
    return (*settings, *contents(cell.profiles).values())


def is_cell(settings: Mapping[str, str], cell: Cell) -> bool:
    """Return whether a grid's settings, with the others at their defaults, are those of a cell.

    Axes that its engine does not have are not compared.
    """
    profile = cell.profiles["workload"]
    fixed, preset = profile.get("fixed", {}), profile.get("defaults", {})
    given = {own_name(name): text for name, text in settings.items()}
    return all(
        select.spelled(name, given.get(name, str(preset.get(name, axis.spec["default"]))))
        == str(cell.value(name))
        for name, axis in axes().items()
        if name not in (*SAMPLED, *fixed) and name not in engines.unused_axes(str(cell.engine))
    )


def read(database: Path) -> Results:
    """Return all runs of a results database (docs/how-to/results-db.md). Raises DatabaseError."""
    with store.opened(database, write=False) as connection:
        rows = row_checks.sound(connection, "grid_excluded", "grid, settings")
        excluded = [(row["grid"], json.loads(row["settings"]), row["reason"]) for row in rows]
        return Results(select.load(connection), store.label(connection), excluded)


def current() -> Results:
    """Return this lab's database, brought up to date; without the cells that grids exclude."""
    sync.up_to_date()
    with store.opened(write=False) as connection:
        return Results(select.load(connection), store.label(connection))


def fitting(cells: Iterable[Cell], where: str) -> list[Cell]:
    """Return the cells that a selector matches (select.parse)."""
    terms = select.parse(where)
    return [
        cell
        for cell in cells
        if all(
            select.matches(str(cell.value(name)) if cell.has(name) else "", patterns)
            for name, patterns in terms
        )
    ]
