"""A sweep's plan: which runs, what they share, where their states are.

Its state is below results/.sweep/ (commitpath/database/sweep_state.py).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from base import identity
from base.errors import LabError
from base.paths import RESULTS
from commitpath.boards.prepared import memory_mib
from commitpath.cells import observers
from commitpath.database.sweep_state import STATE, read_state, write_whole
from commitpath.run import crash_trials
from commitpath.sweep.grid import Excluded, Expanded
from model.cell import Cell

# Settings that a prepared board depends on, beside its device's geometry and its table: runs
# that have these in common share its snapshot. A mistake here costs time, never a wrong
# result: the snapshot's own key decides (commitpath/boards/prepared.py).
BOARD_SETTINGS = (
    *("board", "clock", "cpu_ns", "kernel", "engine", "sqlite"),
    *("fs", "mkfs_options", "mount_options"),
)
TABLE_SETTINGS = ("rows", "value_size", "page_size")
# Beside a job's boards: QEMU's own, Python's.
HOST_MEMORY_MIB = 1024


@dataclass(frozen=True)
class Planned:
    """One run of a plan. grids: every grid that asks for it."""

    key: str
    cell: Cell
    repeat: int
    grids: tuple[str, ...]

    @property
    def group(self) -> str:
        """Runs of one group start from the same prepared board.

        `<board>`, or `<board>+<probes>` where it is saved again with its probes attached.
        """
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
        """MiB that a job of this run may need: its boards, and the analysis."""
        return memory_mib(self.cell) * self.boards + HOST_MEMORY_MIB

    @property
    def boards(self) -> int:
        """Boards at a time: the run's and its untraced twin's if any; then those that try its cuts."""
        of_run = 2 if self.cell.probes else 1
        return of_run if self.cell.crash == "none" else max(of_run, crash_trials.boards())


def with_bases(groups: Iterable[str]) -> set[str]:
    """Groups, and those that they are made from."""
    return {name for group in groups for name in (group, group.partition("+")[0])}


def merge(grids: Iterable[Expanded]) -> tuple[dict[str, Planned], list[Excluded]]:
    """(runs by key, in the grids' order; excluded cells); a run that several ask for stands once."""
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
    """Write plan.json for Snakemake and its jobs; its path."""
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
    write_whole(path, json.dumps(content))
    return path


def run_status(folder: Path) -> str | None:
    """`ok` or `rejected` of a stored run; None before it is analysed."""
    summary = read_state(folder / "summary.json")
    return str(summary.get("status")) if summary else None


def forget_stale(keys: Iterable[str]) -> list[str]:
    """Those of the keys that are to be run: a mark whose run is gone or not ok any more is removed."""
    todo = []
    for key in keys:
        mark = STATE / "done" / key
        done = read_state(mark)
        if done and run_status(RESULTS / str(done.get("run"))) == "ok":
            continue
        mark.unlink(missing_ok=True)
        todo.append(key)
    return todo
