"""A sweep's plan: which runs, what they share, where their states are.

State below results/.sweep/ (docs/sweeps.md): plan.json; done/<key> names the stored
run of a key; failed/<key> says why there is none; prepared/<group>; log/; lock.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commitpath.cell import RESULTS, canonical
from commitpath.sweep.grid import Excluded, Expanded

STATE = RESULTS / ".sweep"
# Settings that a prepared board does not depend on: runs that differ only in these
# share its snapshot. Too short a list costs time, never a wrong result: the snapshot's
# own key decides (commitpath/prepared.py).
RUN_ONLY = {
    *("mode", "sync", "cache_size", "autocheckpoint", "journal_limit", "checkpoint_every", "n", "seed"),
}


@dataclass(frozen=True)
class Planned:
    """One run of a plan. grids: every grid that asks for it."""

    key: str
    cell: Mapping[str, Any]
    repeat: int
    grids: tuple[str, ...]

    @property
    def group(self) -> str:
        """Runs of one group start from the same prepared board."""
        shared = {name: value for name, value in self.cell.items() if name not in {*RUN_ONLY, "profiles"}}
        profiles = {name: value for name, value in self.cell["profiles"].items() if name != "mode"}
        return hashlib.sha256(canonical({**shared, "profiles": profiles}).encode()).hexdigest()[:10]


def merge(grids: Iterable[Expanded]) -> tuple[dict[str, Planned], list[Excluded]]:
    """(runs by key, in the grids' order; excluded cells); a run that several ask for stands once."""
    runs: dict[str, Planned] = {}
    excluded: list[Excluded] = []
    for grid in grids:
        excluded += [entry for entry in grid.excluded if entry not in excluded]
        for run in grid.runs:
            before = runs[run.key].grids if run.key in runs else ()
            names = before if run.grid in before else (*before, run.grid)
            runs[run.key] = Planned(run.key, run.cell, run.repeat, names)
    return runs, excluded


def write(runs: Mapping[str, Planned], excluded: Iterable[Excluded]) -> Path:
    """Write plan.json for Snakemake and its jobs; its path."""
    content = {
        "runs": {
            run.key: {"cell": run.cell, "repeat": run.repeat, "group": run.group, "grids": run.grids}
            for run in runs.values()
        },
        "excluded": [vars(entry) for entry in excluded],
    }
    path = STATE / "plan.json"
    write_whole(path, json.dumps(content))
    return path


def write_whole(path: Path, text: str) -> None:
    """Write a file that appears, or is replaced, only when whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)


def read_state(path: Path) -> dict[str, Any] | None:
    """A state file's content; None where there is none or it is not whole."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


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
