"""Make plan.json of a cell (docs/reference/formats.md): runs, steps, files by hash, expected settings."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from commitpath.boards.payload import payload
from commitpath.cells.axes import probe_files
from commitpath.cells.identities import cell_id, cell_name, stored
from commitpath.cells.profiles import board_modules, watching
from commitpath.host import ansible
from model.cell import Cell
from model.requested import expected

FORMAT = 3


@dataclass(frozen=True)
class PlannedRun:
    """One run: a cell, and its files on the board, name → content."""

    cell: Cell
    files: dict[str, bytes]


@dataclass(frozen=True)
class Plan:
    """document: plan.json. runs: the run, then its baseline run if any. trials: the run on trial boards."""

    document: Mapping[str, Any]
    runs: list[PlannedRun]
    trials: PlannedRun | None = None


def make(cell: Cell, entry: Mapping[str, Any]) -> Plan:
    """Return the plan of a cell on a board of playbooks/inventory. Builds nothing."""
    cells = {"run": cell}
    # a baseline run: at once in virtual time, before or after the run on a lab board
    if cell.probes and (cell.clock == "virtual" or cell.board != "virtual"):
        cells["twin"] = replace(cell, probes="")
    runs = {name: PlannedRun(one, payload(one)) for name, one in cells.items()}
    trials = None
    if cell.crash != "none":
        unwatched = replace(cell, probes="")
        trials = PlannedRun(unwatched, payload(unwatched, trials=True))
    every = {**runs, **({expected.TRIALS: trials} if trials else {})}
    document = {
        "format": FORMAT,
        "cell_id": cell_id(cell),
        "cell_name": cell_name(cell),
        "cell": stored(cell),
        "board": {
            **{"name": cell.board, "kind": entry["board_kind"], "device": entry["board_device"]},
            **(
                {"limits": ansible.limits(cell.board, entry)}
                if entry["board_kind"] == "lab"
                else {"modules": [folder.name for folder in board_modules(cell)]}
            ),
        },
        "runs": {
            name: {
                "observers": watching(run.cell),
                "probes": probe_files(run.cell.probes, run.cell.profiles["fs"]["type"]),
                "files": {path: digest(content) for path, content in sorted(run.files.items())},
                "steps": [
                    {"name": step, "ends": ends}
                    for step, ends in expected.steps(run.cell, run is trials).items()
                ],
            }
            for name, run in every.items()
        },
        "expected": [asdict(one) for one in expected.settings(cell)],
    }
    return Plan(document, list(runs.values()), trials)


def digest(content: bytes) -> str:
    """Return the SHA-256 in hex digits."""
    return hashlib.sha256(content).hexdigest()
