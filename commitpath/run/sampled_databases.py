"""What the host finds in the databases of sampled trials (expected_state/sampled.py): the files that a board
kept of each, looked at by the same program with the same release, built for this host."""

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

# Beyond what the program itself takes for hung (workloads/trials/look.c).
LIMIT_SECONDS = 600.0


def of_samples(cell: Cell, raw: Path) -> dict[str, dict[str, Any]]:
    """What was found of each sampled trial of a board, by its number; nothing of one that no file could be
    read of. LabError where it cannot be looked at."""
    folders = [folder for folder in sampled.folders(raw) if not (folder / sampled.UNREAD).exists()]
    if not folders:
        return {}
    program = programs.trials(cell, here=True)
    return {folder.name: look(program, cell, folder) for folder in folders}


def without_needs(cell: Cell) -> Cell:
    """The cell without what its engine's settings need of the board's filesystem, which this host's may not
    have: a recovery does without it."""
    needs = load_profile("engine", cell.engine).get("needs_of_fs", {})
    return replace(cell, **{axis: axes()[axis].spec["default"] for axis in needs})


def look(program: Path, cell: Cell, folder: Path) -> dict[str, Any]:
    """What is in the database of a folder. In a copy: to open it is to recover it."""
    here = persistent_memory.in_files(without_needs(cell))
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
        said = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        raise LabError(f"trial {folder.name} cannot be looked at on this host: {said}")
    found = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    return {name: int(found[name]) for name in sampled.NUMBERS} | {
        "hash": found["hash"],
        "said": found["said"],
    }
