"""What a cell is called: its canonical form, its id and its name.

A stored cell (cell.json) has every axis, `profiles`, and `at_default`: the names of the axes that were at
their default when it was made. So its id can be computed without a schema, and an axis that came later,
or that another lab has, changes no id.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Cell = Mapping[str, Any]

RULE = "v2"
# Of a cell_id. Two of a million cells have the same with a chance of 3e-8.
DIGITS = 16
# of a cell_id
PATTERN = f"{RULE}[0-9a-f]{{{DIGITS}}}"
# Of a profile what is for who reads it, and changes nothing of a run.
PROSE = ("aliases", "description", "no_modules", "sources")
# What limits what may be requested, is checked afterwards or is on every board: no part of a cell.
NO_SETTINGS = (
    *("atomic_writes", "engines", "least", "most", "options", "packages", "since"),
    *("transactions", "unwatched"),
)
# What a run measures: the driver's work on a database, or a command (`make watch`), of which a cell says
# so. A step of the run is called after it, and a script of playbooks/loads/.
DRIVER, COMMAND = "driver", "command"
# The engine whose cells' folders are named after their journal mode.
FIRST_ENGINE = "sqlite"


def canonical(value: Mapping[str, Any]) -> str:
    """The one form of a JSON object: sorted, without white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Mapping[str, Any]) -> str:
    """The SHA-256 of the one form, in hex digits."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def asked(profile: Mapping[str, Any]) -> dict[str, Any]:
    """What of a profile changes a run."""
    return {name: value for name, value in profile.items() if name not in (*PROSE, *NO_SETTINGS)}


def contents(cell: Cell) -> dict[str, str]:
    """Axis → SHA-256 of what its profile asks for.

    A profile's name does not say it: the file may be edited, and another lab has its own.
    """
    return {axis: digest(asked(profile)) for axis, profile in sorted(cell["profiles"].items())}


def load(cell: Cell) -> str:
    """What a run of a cell measures: DRIVER or COMMAND."""
    return str(cell.get("load", DRIVER))


def document(cell: Cell) -> str:
    """The name of a cell's file in a run's folder: what reads transactions finds no command's."""
    return {DRIVER: "cell.json", COMMAND: "watch.json"}[load(cell)]


def cell_id(stored: Cell) -> str:
    """Return a stored cell's id: `v2` and the first 16 hex digits of the SHA-256 of the axes that are not at
    their default, with their values, and of the contents of the profiles."""
    without = {"profiles", "at_default", *stored["at_default"]}
    axes = {name: value for name, value in stored.items() if name not in without}
    return RULE + digest({"axes": axes, "contents": contents(stored)})[:DIGITS]


def cell_name(stored: Cell) -> str:
    """The name of a stored cell's folder, unique by the id in it; what the cell does not say is `-`."""
    if load(stored) == COMMAND:
        return "-".join([COMMAND, str(stored["fs"]), str(stored["device"]), cell_id(stored)])
    first = stored["engine"] == FIRST_ENGINE
    axes = ("fs", "journal_mode" if first else "engine", "synchronous", "workload", "device")
    return "-".join([*(str(stored.get(axis, "-")) for axis in axes), cell_id(stored)])


def settings(stored: Cell) -> dict[str, Any]:
    """Return a stored cell's axes and profiles alone."""
    return {key: value for key, value in stored.items() if key != "at_default"}
