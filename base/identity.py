"""What a cell is called: its one form, its id and its name, as the rule it was made by has them.

A stored cell (cell.json) has every axis, `profiles`, and by rule 2 `at_default`: the names of the axes
that were at their default when it was made. So whoever reads it needs no schema to know its id, and
an axis that came later, or that another lab has, changes no id.

Rule 1 hashed all axes and the profiles' whole text; its ids are 10 hex digits. Its axes had other names.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Cell = Mapping[str, Any]

RULE = "v2"
# Of a cell_id. Two of a million cells have one with a chance of 3e-8; of 10 digits, as rule 1 has them,
# somebody who looks for two finds them in seconds.
DIGITS = 16
# of a cell_id, by either rule
PATTERN = f"([0-9a-f]{{10}}|{RULE}[0-9a-f]{{{DIGITS}}})"
# Of a profile what is for who reads it, and changes nothing of a run.
PROSE = ("aliases", "description", "no_modules", "sources")
# What limits what may be requested, is checked afterwards or is on every board: no part of a cell.
NO_SETTINGS = (
    *("atomic_writes", "engines", "least", "most", "options", "packages", "since"),
    *("transactions", "unwatched"),
)
# Axes by rule 1 → what they are called now.
RENAMED = {
    "mode": "journal_mode",
    "sync": "synchronous",
    "autocheckpoint": "wal_autocheckpoint",
    "journal_limit": "journal_size_limit",
}
# What each had a file of, by rule 1.
JOURNAL_MODES = ("delete", "truncate", "persist", "wal", "memory", "off")
# What a run measures: the driver's work on a database, or a command (`make watch`), of which a cell says
# so. A step of the run is called after it, and a script of playbooks/loads/.
DRIVER, COMMAND = "driver", "command"
# The engine that there was before there were others: rule 1 has no name of it.
FIRST_ENGINE = "sqlite"
# Likewise the kernel.
FIRST_KERNEL = "6.12"


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


def is_first_rule(stored: Cell) -> bool:
    """Whether rule 1 made a stored cell."""
    return "at_default" not in stored


def cell_id(stored: Cell) -> str:
    """A stored cell's id.

    Rule 2: `v2` and the first 16 hex digits of the SHA-256 of the axes that are not at their default,
    with their values, and of the contents of the profiles.
    """
    if is_first_rule(stored):
        named = {key: value for key, value in stored.items() if (key, value) != ("engine", FIRST_ENGINE)}
        return digest(named)[:10]
    without = {"profiles", "at_default", *stored["at_default"]}
    axes = {name: value for name, value in stored.items() if name not in without}
    return RULE + digest({"axes": axes, "contents": contents(stored)})[:DIGITS]


def cell_name(stored: Cell) -> str:
    """The name of a stored cell's folder, unique by the id in it; what the cell does not say is `-`."""
    cell = current(stored)
    if is_first_rule(stored) and "mode" in stored:
        # by the name of the file that it had
        cell["journal_mode"] = stored["mode"]
    if load(cell) == COMMAND:
        return "-".join([COMMAND, str(cell["fs"]), str(cell["device"]), cell_id(stored)])
    first = cell["engine"] == FIRST_ENGINE
    axes = ("fs", "journal_mode" if first else "engine", "synchronous", "workload", "device")
    return "-".join([*(str(cell.get(axis, "-")) for axis in axes), cell_id(stored)])


def twice(stored: Cell) -> list[str]:
    """The axes that a stored cell has under both of their names: nobody can say which holds."""
    return [name for earlier, name in RENAMED.items() if earlier in stored and name in stored]


def current(stored: Cell) -> dict[str, Any]:
    """A stored cell's axes and profiles as they are called now; an axis that it lacks is not added."""
    if not is_first_rule(stored):
        return {key: value for key, value in stored.items() if key != "at_default"}
    cell = {RENAMED.get(key, key): value for key, value in stored.items()}
    profiles = {name: content for name, content in cell.get("profiles", {}).items() if name != "mode"}
    # of another lab's file of another name
    told = stored.get("profiles", {}).get("mode", {}).get("journal_mode")
    if told and cell.get("journal_mode") not in JOURNAL_MODES:
        cell["journal_mode"] = told
    return {"engine": FIRST_ENGINE, **cell, "profiles": profiles}
