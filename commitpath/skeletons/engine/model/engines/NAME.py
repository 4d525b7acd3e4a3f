"""{{NAME}}: its files, its settings, and what survives. model/engines/__init__.py explains each member.

Give the source of each promise: the page of its documentation, or the file of its code.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

import polars as pl

from model.cell import Cell
from model.engines import sqlite
from model.engines.survival import ALL, UNSYNCED
from model.operations import Transaction
from model.operations import kinds as all_kinds
from model.workloads import Operation

# Required. FILES: role → (what a page of it is called, its colour), such as "log": ("log", "#D55E00").
TITLE = "{{NAME}}"
FILES = {"database": sqlite.FILES["database"]}
# Whether an update of a key that is not there adds a row.
ADDS_MISSING = True

# Leave these as they are until the engine has what they are about.
PROPERTIES = "properties"  # the hook write_properties
LOGS_CALLS = False  # the hook log_prepare; then also CALLS, UNORDERED, order, UNFINISHED
CALLS: dict[str, str] = {}
UNORDERED: tuple[str, ...] = ()
order = None
UNFINISHED = re.compile("(?!)")
JOBS: dict[str, str] = {}  # threads: the name's beginning → why it writes
RECOVERIES: dict[str, bool | None] = {}  # what opening it after a crash may print
OF_ANY_SQLITE = False
COUNTED = re.compile("(?!)")  # counters among its properties
UNASKED: dict[str, str] = {}

# struct head of workloads/engines/{{NAME}}/engine.c: kind, size of the value, key
_HEAD = struct.Struct("<IIq")


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file (required): a database is one file.

    It is asked of other engines' files, too: recognise only names that are the engine's.
    """
    return "database" if name in databases else None


def requested(cell: Cell) -> dict[str, Any]:
    """Return the settings that a cell asks for (required), by their names in config.json."""
    return {"sync": cell.synchronous}


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system (required)."""
    return ALL, {"full": ALL, "off": UNSYNCED}[settings["sync"]]


def transactions(rendered: BinaryIO) -> Iterator[Transaction]:
    """Yield what each transaction does (required); a newline ends it.

    Raises ValueError with the transaction that is not so.
    """
    kinds = [kind for kind in all_kinds() if kind not in ("batch", "sql")]
    number, operations, values = 0, list[str](), 0
    while first := rendered.read(1):
        if first == b"\n" and operations:
            yield Transaction(tuple(operations), len(operations) > 1, values)
            number, operations, values = number + 1, [], 0
            continue
        head = first + rendered.read(_HEAD.size - 1)
        if len(head) < _HEAD.size:
            raise ValueError(f"transaction {number}")
        kind, size, _ = _HEAD.unpack(head)
        if kind >= len(kinds) or len(rendered.read(size)) < size:
            raise ValueError(f"transaction {number}")
        operations.append(kinds[kind])
        values += size
    if operations:
        raise ValueError(f"transaction {number}")


def rendered(operations: tuple[Operation, ...], texts: Mapping[str, str]) -> bytes:
    """Return what the hook `render` makes of these operations, and the newline (required)."""
    kinds = list(all_kinds())
    heads = [(_HEAD.pack(kinds.index(kind), len(value), key), value) for kind, key, value in operations]
    return b"".join(part for each in heads for part in each) + b"\n"


# Only an engine with SQL has it.
transactions_of_file = None


# The checks that follow find nothing until the engine logs its calls, counts what it does, or has `maintain`.


def release(cell: Cell) -> str | None:
    """Return the release that a cell asks for; None: there is one only."""
    return None


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return in what its logged calls contradict the settings: none are logged."""
    return []


def miscounted(config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
    """Return in what its own counters are wrong: it has none."""
    return []


def least_written(config: Mapping[str, Any]) -> int:
    """Return how many bytes it wrote at least by its own counters: it has none."""
    return 0


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return which calls an explicit checkpoint may make; None: it does nothing."""
    return None
