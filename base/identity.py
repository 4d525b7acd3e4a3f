"""Compute a cell's id (a hash of its settings) and folder name from cell.json; check a run's folder names.

A stored cell (cell.json) has every axis, `profiles`, and `at_default`: the names of the axes that were at
their default when it was made. Its id can therefore be computed without a schema, and an axis added
later, or by another lab, does not change it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# A stored cell or watched command: cell.json or watch.json (model/cell.py has the typed one).
Document = Mapping[str, Any]

RULE = "v2"
# Hex digits of a cell_id: among a million cells, two collide with probability 3e-8.
DIGITS = 16
PATTERN = f"{RULE}[0-9a-f]{{{DIGITS}}}"
# A grid in the results database.
GRID_NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}"
# Entries of a profile that do not change a run: for the reader only, or in the cell's axes.
PROSE = ("aliases", "defaults", "description", "endurance", "no_modules", "sources")
# Entries that limit requests, are checked after the run, or hold for every board: not part of a cell.
NO_SETTINGS = (
    *("atomic_writes", "engines", "least", "most", "options", "own_board", "packages", "since"),
    *("transactions", "unwatched"),
)
# What a run measures: the driver's work on a database, or a command (`make watch`; its cell has `load`).
# The run's step and the script in playbooks/loads/ have the same name.
DRIVER, COMMAND = "driver", "command"
# Folders of this engine's cells are named after their journal mode.
FIRST_ENGINE = "sqlite"
# Axes of LMDB, which lacks `synchronous`: with one of them a commit syncs less than by default.
_LESS_SYNCED = ("nosync", "nometasync", "mapasync")


def canonical(value: Mapping[str, Any]) -> str:
    """Return the canonical JSON of an object: sorted, without white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON, in hex digits."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def settings(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a profile that change a run."""
    return {name: value for name, value in profile.items() if name not in (*PROSE, *NO_SETTINGS)}


def contents(profiles: Mapping[str, Any]) -> dict[str, str]:
    """Return axis → SHA-256 of the settings of its profile, from a cell's profiles.

    The profile's name does not identify it: its file may be edited, and another lab has its own.
    """
    return {axis: digest(settings(profile)) for axis, profile in sorted(profiles.items())}


def load(cell: Document) -> str:
    """Return what a run of a cell measures: DRIVER or COMMAND."""
    return str(cell.get("load", DRIVER))


def document(cell: Document) -> str:
    """Return the name of the cell's file in a run folder; COMMAND has another, as it has no transactions."""
    return {DRIVER: "cell.json", COMMAND: "watch.json"}[load(cell)]


def cell_id(stored: Document) -> str:
    """Return a stored cell's id: `v2` and 16 hex digits of the SHA-256 of the axes that are not at their
    default, with their values, and of the profiles' contents."""
    without = {"profiles", "at_default", *stored["at_default"]}
    axes = {name: value for name, value in stored.items() if name not in without}
    return RULE + digest({"axes": axes, "contents": contents(stored["profiles"])})[:DIGITS]


def cell_name(stored: Document) -> str:
    """Return the name of a stored cell's folder, unique by its id; `-` for an axis that the cell lacks."""
    if load(stored) == COMMAND:
        return "-".join([COMMAND, str(stored["fs"]), str(stored["device"]), cell_id(stored)])
    first = stored["engine"] == FIRST_ENGINE
    parts = [stored.get(axis, "-") for axis in ("fs", "journal_mode" if first else "engine")]
    parts += [_syncs(stored), *(stored.get(axis, "-") for axis in ("workload", "device"))]
    return "-".join([*map(str, parts), cell_id(stored)])


def misnamed(folder: Path, stored: Document, host: Document) -> str | None:
    """Return which folder name, of the run or its cell, contradicts the documents; None if neither does.

    A copied run with an edited cell keeps its old folder name.
    """
    place = folder.resolve()
    for kind, name, called in (
        ("run", host.get("run_id"), place.name),
        ("cell", cell_name(stored), place.parent.name),
    ):
        if name != called:
            return f"the folder of its {kind} is not called {name}"
    return None


def _syncs(stored: Document) -> str:
    """Return which syncs a commit makes, in words of a cell's name."""
    less = [axis for axis in _LESS_SYNCED if stored.get(axis) == "on"]
    each = stored.get("sync_every", 1)
    return "-".join(less) or f"{stored.get('synchronous', '-')}{'' if each == 1 else f'-every-{each}'}"
