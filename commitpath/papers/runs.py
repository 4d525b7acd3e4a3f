"""What the results database has for a cell: its value, or why there is none; and what it did."""

from __future__ import annotations

import json
import sqlite3
import statistics
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis import spread
from base.errors import LabError
from commitpath.axes import axes, own_name
from commitpath.database import rows, select, store
from commitpath.database.select import Run
from commitpath.identities import cell_id
from commitpath.reporting.cells import Cells, rate
from commitpath.reporting.marks import transactions

COUNTS = ("syncs", "flushes", "fua", "block_writes", "bytes_written")


@dataclass(frozen=True)
class Causes:
    """What a transaction of an operation did in a watched run: means of COUNTS, bytes by label.

    Of `all`, flushes, fua, block_writes and bytes_written are the window's over its transactions,
    with the final checkpoint; bytes by label are those that a transaction caused.
    """

    run: Run
    counts: Mapping[str, float]
    bytes_by_label: Mapping[str, float]


@dataclass(frozen=True)
class Found:
    """A cell's runs that count. state: ok, failed, missing or excluded; reason: why it is not ok.

    value, low, high: tps, the median, least and most of the runs; None if it is not ok. interval: 95 % of
    their mean, of two runs or more.
    """

    state: str
    reason: str
    runs: tuple[Run, ...]
    value: float | None
    low: float | None
    high: float | None
    transactions: int | None
    grids: tuple[str, ...]
    interval: tuple[float, float] | None = None

    @property
    def top(self) -> float:
        """The highest that is drawn of it."""
        return max(self.high or 0.0, self.interval[1] if self.interval else 0.0)


class Results:
    """This lab's runs by cell."""

    def __init__(self, runs: list[Run], lab: str, excluded: list[tuple[str, dict[str, str], str]]) -> None:
        """excluded: (grid, settings, reason) of the cells that grids leave out."""
        self.excluded = excluded
        # ids of the cells that were asked for; None: all that are drawn
        self.asked: Set[str] | None = None
        self.cells = Cells(runs, lab)

    def find(self, cell: Mapping[str, Any], op: str) -> Found:
        """A cell's tps of an operation, or why there is none."""
        runs = self.cells.of(cell)
        fine, why = self.cells.counting(cell)
        grids = tuple(sorted({grid for run in runs for grid in run.grids}))
        if fine:
            values = [value for run in fine if (value := rate(run, op)) is not None]
            if len(values) < len(fine):
                raise LabError(f"{fine[-1].facts['cell']}: a run has no tps of {op}")
            return Found(
                "ok",
                "",
                tuple(fine),
                statistics.median(values),
                min(values),
                max(values),
                int(cell["n"]) if op in fine[-1].summary["tps"] and op != "all" else transactions(fine[-1]),
                grids,
                spread.interval(values),
            )
        if runs:
            return Found("failed", str(why), tuple(runs), None, None, None, None, grids)
        for grid, left_out, reason in self.excluded:
            if is_cell(left_out, cell):
                return Found("excluded", reason, (), None, None, None, None, (grid,))
        if self.asked is not None and cell_id(cell) not in self.asked:
            return Found("excluded", "it was not asked for", (), None, None, None, None, ())
        return Found("missing", str(why), (), None, None, None, None, ())

    def causes(self, cell: Mapping[str, Any], op: str) -> Causes | None:
        """What a watched run of the same configuration did; None where there is none,
        and of a mix.
        """
        run = self.cells.watched(cell)
        if run is None or ":" in op:
            return None
        counts = whole(run) if op == "all" else of_op(run, op)
        return Causes(run, counts, run.summary["ledger"]["per_transaction"][op])


def is_cell(settings: Mapping[str, str], cell: Mapping[str, Any]) -> bool:
    """Whether settings as a grid spells them, the others at their defaults, are those of a cell."""
    fixed = cell["profiles"]["workload"].get("fixed", {})
    given = {own_name(name): text for name, text in settings.items()}
    for name, axis in axes().items():
        if name == "seed" or name in fixed:
            continue
        text = given.get(name, str(axis.spec["default"]))
        if select.spelled(name, text) != str(cell[name]):
            return False
    return True


def of_op(run: Run, op: str) -> dict[str, float]:
    """COUNTS per transaction of an operation."""
    told = run.summary["per_transaction"][op]
    return {name: run.summary["syncs"][op] if name == "syncs" else told[name] for name in COUNTS}


def whole(run: Run) -> dict[str, float]:
    """COUNTS per transaction over all. Every operation of a workload has the same number of them."""
    block, number = run.summary["block"], transactions(run)
    counts = {name: block[name] / number for name in ("flushes", "fua", "bytes_written")}
    return {
        "syncs": statistics.fmean(run.summary["syncs"].values()),
        "block_writes": block["writes"] / number,
        **counts,
    }


def read(database: Path) -> Results:
    """All of a results database (docs/how-to/results-db.md). Raises DatabaseError."""
    with store.opened(database, write=False) as connection:
        return Results(select.load(connection), store.label(connection), excluded(connection))


def excluded(connection: sqlite3.Connection) -> list[tuple[str, dict[str, str], str]]:
    """(grid, settings, reason) of what grids leave out."""
    found = rows.sound(connection, "grid_excluded", "grid, settings")
    return [(row["grid"], json.loads(row["settings"]), row["reason"]) for row in found]
