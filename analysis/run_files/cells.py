"""Read the configuration of a stored run (its cell) from cell.json or watch.json, and check axes' types."""

from pathlib import Path
from typing import Any

from analysis.run_files.reading import SHOWN, read_json
from base import identity
from base.errors import FileError
from model import cell as cells
from model import engines
from model.cell import Cell

# Axes without which no cell can be read.
_REQUIRED = ("board", "clock", "cpu_ns", "kernel", "probes")


def document(path: Path) -> dict[str, Any]:
    """Return the content of cell.json or watch.json. Raises FileError if it is not a cell.

    Whether the cell is possible was checked when it was made.
    """
    stored = read_json(path)
    if not isinstance(named := stored.get("at_default"), list) or not all(isinstance(n, str) for n in named):
        raise FileError(path, "at_default", repr(named)[:SHOWN], "a list of axes, as of version 0.1.0")
    if missing := [name for name in _REQUIRED if name not in stored]:
        raise FileError(path, missing[0], "it is missing", "see docs/reference/formats.md")
    if identity.document(stored) != path.name:
        kind = identity.document(stored)
        found = repr(stored.get("load"))[:SHOWN]
        raise FileError(path, "load", found, f"a load of {path.name}, not of {kind}")
    cell = parse(path, stored)
    if cell.engine not in engines.names():
        raise FileError(path, "engine", repr(cell.engine)[:SHOWN], ", ".join(engines.names()))
    if cell.cpu_ns < 1:
        raise FileError(path, "cpu_ns", repr(cell.cpu_ns)[:SHOWN], "ns of an instruction")
    return stored


def parse(path: Path, stored: dict[str, Any]) -> Cell:
    """Return the cell of a stored document. Raises FileError for an axis of another type."""
    profiles = stored.get("profiles")
    if not isinstance(profiles, dict) or not all(isinstance(entry, dict) for entry in profiles.values()):
        raise FileError(path, "", "no object 'profiles' of objects", "see docs/reference/formats.md")
    for name, kind in cells.mistyped(stored):
        raise FileError(path, name, repr(stored[name])[:SHOWN], kind)
    return cells.from_document(stored)
