"""Where commitpath works and keeps what it makes; looked at before a command begins."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from commitpath import scratch
from commitpath.cell import RESULTS, ROOT, cell_name
from commitpath.errors import BadInputError

# What no quoting gets past: Python's environments and PATH end a folder's name at a colon, Ansible
# reads {{ in a variable, ssh ${ in a file's name. playbooks/bootstrap.sh knows them too.
REFUSED = ":${}"
# Commands that write to results/, or to the database in it, which a first reader makes.
TO_RESULTS = ("experiment", "sweep", "reproduce", "calibrate", "results", "export", "import", "compare")
TO_CACHE = ("experiment", "sweep", "reproduce", "calibrate", "board", "host")


def begin(command: str) -> None:
    """BadInputError where the command could not work, or could not keep what it makes.

    And what a killed one left half-made is removed.
    """
    from images.artifacts import CACHE

    places = {"": ROOT, "COMMITPATH_CACHE": CACHE, "COMMITPATH_RESULTS": RESULTS}
    for variable, path in places.items():
        check_name(path, f"{variable}=" if variable and variable in os.environ else "")
    if command in TO_RESULTS:
        check_writable(RESULTS, "COMMITPATH_RESULTS=<folder> names another")
        scratch.sweep(RESULTS, *scratch.PLACES)
    if command in TO_CACHE:
        check_writable(CACHE, "COMMITPATH_CACHE=<folder> names another")
        scratch.sweep(CACHE, "*", "*/*")


def check_name(path: Path, said: str) -> None:
    """Refuse a path with a character that a tool under us takes for something else."""
    text = str(path)
    found = sorted({character for character in text if character in REFUSED or not character.isprintable()})
    if found:
        shown = " ".join(repr(character)[1:-1] for character in found)
        raise BadInputError(
            f"{said}{text!r}: a path with {shown} does not work; it may have any printable "
            f"characters but {' '.join(REFUSED)}"
        )


def check_runs(cells: Iterable[Mapping[str, Any]]) -> None:
    """BadInputError where a run of one of the cells could not be kept."""
    for name in {cell_name(cell) for cell in cells}:
        check_writable(RESULTS / name, "remove it, or make it writable")


def check_writable(folder: Path, remedy: str) -> None:
    """Refuse a folder in which nothing can be made; one that is not there yet is not made."""
    if folder.is_symlink() and not folder.exists():
        raise BadInputError(f"{folder}: a link to {folder.readlink()}, which is not there; {remedy}")
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise BadInputError(f"{there}: not a folder; {remedy}")
    try:
        # has no name, so that a kill leaves nothing
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise BadInputError(f"{there}: nothing can be written there ({error.strerror}); {remedy}") from error
