"""{{NAME}}: the roles of its files, its settings, what survives a crash, and the bytes of its transactions.

Class Engine of model/engines has each member. Give the source of each promise: the page of its
documentation, or the file of its code.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from model.cell import Cell
from model.engines import sqlite
from model.engines.survival import ALL, UNSYNCED
from model.operations import Transaction
from model.operations import kinds as all_kinds
from model.workloads import Operation

# Required. FILES: role → (label of its pages, colour), such as "log": ("log", "#D55E00").
TITLE = "{{NAME}}"
FILES = {"database": sqlite.FILES["database"]}
# Optional: an update of a missing key adds a row.
ADDS_MISSING = True
# Optional, by hook of workloads/engine.h:
# - write_properties: COUNTED, UNASKED, miscounted, least_written
# - log_prepare: LOGS_CALLS, CALLS, UNORDERED, UNFINISHED, order, contradicted
# - maintain: maintenance
# - open, after a crash: RECOVERIES
# - for threads with names of their own: JOBS

# struct head of workloads/engines/{{NAME}}/engine.c: kind, size of the value, key
_HEAD = struct.Struct("<IIq")


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file (required): a database is one file.

    It is called for other engines' files, too: recognise only names of this engine.
    """
    return "database" if name in databases else None


def requested(cell: Cell) -> dict[str, Any]:
    """Return the settings that a cell requests (required), by their names in config.json."""
    return {"sync": cell.synchronous}


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system (required)."""
    return ALL, {"full": ALL, "off": UNSYNCED}[settings["sync"]]


def transactions(rendered: BinaryIO) -> Iterator[Transaction]:
    """Yield what each transaction does (required); a newline ends it.

    Raises ValueError with the first invalid transaction.
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
    """Return the bytes that the hook `render` makes of these operations, and the newline (required)."""
    kinds = list(all_kinds())
    heads = [(_HEAD.pack(kinds.index(kind), len(value), key), value) for kind, key, value, _ in operations]
    return b"".join(part for each in heads for part in each) + b"\n"
