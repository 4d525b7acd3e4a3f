"""Open, on this host, the databases that a board kept of crash trials; return the rows and hash of each.

model/expected_state/sampled.py chooses the trials. The board's program, built for the host, opens them.
"""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from base.errors import LabError
from commitpath.boards import payload
from commitpath.cells import persistent_memory
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from images import artifacts, programs
from model.cell import Cell
from model.expected_state import sampled

# More than the program's own limit (workloads/trials/look.c).
LIMIT_SECONDS = 600.0


def inspect(cell: Cell, raw: Path) -> dict[str, dict[str, Any]]:
    """Return the state of each sampled trial's database, by number; without those with unreadable files.

    Raises LabError if the program fails.
    """
    folders = [folder for folder in sampled.folders(raw) if not (folder / sampled.UNREAD).exists()]
    if not folders:
        return {}
    program = programs.trials(cell, here=True)
    return {folder.name: look(program, cell, folder) for folder in folders}


def look(program: Path, cell: Cell, folder: Path) -> dict[str, Any]:
    """Return the state of the database in a folder. It is copied, as opening it recovers it."""
    # a recovery does without the settings that need a certain filesystem
    needs = load_profile("engine", cell.engine).get("needs_of_fs", {})
    free = replace(cell, **{axis: axes()[axis].spec["default"] for axis in needs})
    here = persistent_memory.in_files(free)
    words = payload.driver_env(here, payload.DATABASE)["DRIVER_OPTIONS"].split()
    with artifacts.work_folder() as work:
        shutil.copytree(folder, work / "db")
        done = subprocess.run(
            [str(program), "look", "run", *words, "--output-dir", "."],
            cwd=work / "db",
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LIMIT_SECONDS,
        )
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != 2:
        reason = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        raise LabError(f"trial {folder.name} cannot be looked at on this host: {reason}")
    state = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    numbers = {name: int(state[name]) for name in sampled.NUMBERS}
    return {**numbers, "hash": state["hash"], "said": state["said"]}
