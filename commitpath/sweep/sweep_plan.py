"""Merge grids into a sweep's runs by shared board; write plan.json, database rows; find runs to make."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from base import identity, scratch
from base.errors import LabError
from base.paths import RESULTS
from commitpath.boards.payload import OF_RECORDS
from commitpath.boards.prepared import memory_mib
from commitpath.cells import observers
from commitpath.cells.grid import Excluded, Expanded
from commitpath.cells.identities import cell_id
from commitpath.database import store
from commitpath.database.sweep_state import STATE, read_state
from commitpath.run import crash_trials
from model.cell import Cell

# Settings of a prepared board besides its device's geometry and its table: runs with equal ones share its
# snapshot. A mistake here only costs time: the snapshot's own key decides (commitpath/boards/prepared.py).
BOARD_SETTINGS = (
    *("board", "board_number", "clock", "cpu_ns", "kernel", "engine", "sqlite"),
    *("fs", "mkfs_options", "mount_options"),
)
TABLE_SETTINGS = ("rows", "value_size", "page_size", *OF_RECORDS)
# Memory of a job beyond its boards': of the QEMU process itself and of Python.
HOST_MEMORY_MIB = 1024


@dataclass(frozen=True)
class Planned:
    """One run of a plan. grids: every grid that has it."""

    key: str
    cell: Cell
    repeat: int
    grids: tuple[str, ...]

    @property
    def group(self) -> str:
        """The prepared board: `<board>`, or `<board>+<probes>` if it is saved again with probes attached."""
        profiles = self.cell.profiles
        packages = observers.packages(self.cell.probes.split(","))
        shared = {
            **{name: self.cell.value(name) for name in (*BOARD_SETTINGS, *TABLE_SETTINGS)},
            "profiles": {"fs": profiles["fs"], "table": profiles["workload"]["table"]},
            **({"file": self.cell.file} if self.cell.file else {}),
            **({"packages": packages} if packages else {}),
        }
        board = identity.digest(shared)[:10]
        if not self.cell.probes or self.cell.clock != "virtual":
            return board
        watched = "".join([self.cell.probes, *profiles.get("observers", {}).values()])
        return f"{board}+{hashlib.sha256(watched.encode()).hexdigest()[:4]}"

    @property
    def memory_mib(self) -> int:
        """MiB of a job of this run: its boards and the analysis."""
        return memory_mib(self.cell) * self.boards + HOST_MEMORY_MIB

    @property
    def boards(self) -> int:
        """Boards at a time: the run's and its baseline run's; then those of crash trials."""
        of_run = 2 if self.cell.probes else 1
        return of_run if self.cell.crash == "none" else max(of_run, crash_trials.boards())


def with_bases(groups: Iterable[str]) -> set[str]:
    """Return groups, and those that they are made from."""
    return {name for group in groups for name in (group, group.partition("+")[0])}


def merge(grids: Iterable[Expanded]) -> tuple[dict[str, Planned], list[Excluded]]:
    """Return the runs of grids by key, in order, each once, and the excluded cells."""
    runs: dict[str, Planned] = {}
    excluded: list[Excluded] = []
    for grid in grids:
        excluded += [entry for entry in grid.excluded if entry not in excluded]
        for run in grid.runs:
            before = runs[run.key].grids if run.key in runs else ()
            if before and runs[run.key].cell != run.cell:
                raise LabError(f"two cells have the id {run.key.partition('-')[0]}: {run.cell}")
            names = before if run.grid in before else (*before, run.grid)
            runs[run.key] = Planned(run.key, run.cell, run.repeat, names)
    return runs, excluded


def write(runs: Mapping[str, Planned], excluded: Iterable[Excluded]) -> Path:
    """Write plan.json for Snakemake and its jobs; return its path."""
    content = {
        "runs": {
            run.key: {
                "cell": run.cell.document(),
                "repeat": run.repeat,
                "group": run.group,
                "grids": run.grids,
                "memory_mib": run.memory_mib,
            }
            for run in runs.values()
        },
        "excluded": [vars(entry) for entry in excluded],
    }
    path = STATE / "plan.json"
    scratch.write(path, json.dumps(content))
    return path


def write_rows(connection: sqlite3.Connection, runs: Iterable[Planned], excluded: Iterable[Excluded]) -> None:
    """Replace the rows of the swept grids in the database."""
    lab = store.label(connection)
    runs, excluded = list(runs), list(excluded)
    names = {name for run in runs for name in run.grids} | {entry.grid for entry in excluded}
    for name in names:
        for table in ("grid_run", "grid_excluded"):
            connection.execute(f"DELETE FROM {table} WHERE lab = ? AND grid = ?", (lab, name))
    connection.executemany(
        "INSERT INTO grid_run VALUES (?, ?, ?, ?)",
        [(lab, name, cell_id(run.cell), run.repeat) for run in runs for name in run.grids],
    )
    connection.executemany(
        "INSERT INTO grid_excluded VALUES (?, ?, ?, ?)",
        [(lab, entry.grid, json.dumps(entry.settings, sort_keys=True), entry.reason) for entry in excluded],
    )


def run_status(folder: Path) -> str | None:
    """Return `ok` or `rejected` of a stored run; None before it is analysed."""
    summary = read_state(folder / "summary.json")
    return str(summary.get("status")) if summary else None


def forget_stale(keys: Iterable[str]) -> list[str]:
    """Return the keys that are to be run; remove marks without a run that is ok."""
    todo = []
    for key in keys:
        mark = STATE / "done" / key
        done = read_state(mark)
        if done and run_status(RESULTS / str(done.get("run"))) == "ok":
            continue
        mark.unlink(missing_ok=True)
        todo.append(key)
    return todo
