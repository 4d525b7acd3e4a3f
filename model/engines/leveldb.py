"""LevelDB: its files, its settings, and what survives.

Sources: its doc/index.md ("Synchronous Writes": without `sync` a crash of the machine may lose the
last few updates, a crash of the process none), doc/log_format.md (a torn record at the log's end is
dropped), db/filename.cc (names).
"""

import re
import struct
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from model.cell import Cell
from model.engines.survival import ALL, UNSYNCED
from model.operations import Transaction
from model.operations import kinds as all_kinds
from model.workloads import Operation

TITLE = "LevelDB"
FILES = {
    "log": ("log", "#D55E00"),
    "table": ("table", "#0072B2"),
    "manifest": ("manifest", "#CC79A7"),
}
JOBS = {"leveldb": "engine job"}  # compactions (workloads/engines/leveldb/engine.c)
ADDS_MISSING = True

_NAMES = {
    "log": re.compile(r"[0-9]{6,}[.]log"),
    "table": re.compile(r"[0-9]{6,}[.](ldb|sst)"),
    "manifest": re.compile(r"MANIFEST-[0-9]{6,}"),
    "other": re.compile(r"CURRENT|LOCK|LOG([.]old)?|[0-9]{6,}[.]dbtmp"),
}

# struct head of workloads/engines/leveldb/database.h; a kind is its index in the table of operations
_HEAD = struct.Struct(">BQI")


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; the name of a database's folder does not matter."""
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), None)


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return that a compaction may make any calls: they are not logged."""
    return re.compile(".*")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the options that a cell requests."""
    return {"sync": cell.synchronous}


def transactions(rendered: BinaryIO) -> Iterator[Transaction]:
    """Yield what each transaction does: several operations are one write.

    An operation is its kind, key, length of the value and value; the value of a scan is its number of rows in
    eight bytes. A newline, which is not a kind, ends a transaction. Raises ValueError with the first invalid
    transaction.
    """
    kinds = [kind for kind in all_kinds() if kind not in ("batch", "sql")]
    number, operations, values = 0, list[str](), 0
    while kind := rendered.read(1):
        if kind == b"\n" and operations:
            yield Transaction(tuple(operations), len(operations) > 1, values)
            number, operations, values = number + 1, [], 0
            continue
        head = kind + rendered.read(_HEAD.size - 1)
        if len(head) < _HEAD.size or head[0] >= len(kinds):
            raise ValueError(f"transaction {number}")
        _, _, size = _HEAD.unpack(head)
        if len(rendered.read(size)) < size:
            raise ValueError(f"transaction {number}")
        operations.append(kinds[head[0]])
        values += 0 if operations[-1] == "scan" else size
    if operations:
        raise ValueError(f"transaction {number}")


def rendered(operations: tuple[Operation, ...], texts: Mapping[str, str]) -> bytes:
    """Return a transaction's operations and newline (workloads/engines/leveldb/transactions.c)."""
    kinds = list(all_kinds())
    given = [
        (kinds.index(kind), key, rows.to_bytes(8) if kind == "scan" else value)
        for kind, key, value, rows in operations
    ]
    return b"".join(_HEAD.pack(kind, key, len(data)) + data for kind, key, data in given) + b"\n"


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return ALL, {"full": ALL, "off": UNSYNCED}[settings["sync"]]
