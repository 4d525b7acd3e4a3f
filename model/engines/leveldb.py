"""LevelDB: file roles, options, order of file calls, what survives a crash; parse and render transactions.

Sources: its db/filename.cc (names), db/db_impl.cc and db/version_set.cc (order of calls), util/env_posix.cc
(syncs of the folder). Class Engine of model/engines loads the module by name.
"""

import re
import struct
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from model.cell import Cell
from model.engines import survival
from model.operations import Transaction
from model.operations import kinds as all_kinds
from model.workloads import Operation

TITLE = "LevelDB"
_NOT_REPORTED = ("sync_every", "write_buffer_size", "max_file_size", "block_cache", "bloom_bits")
_SETTINGS = ("background", "index_blocks", *_NOT_REPORTED)
FILES = {
    "log": ("KV log", "#D55E00"),
    "table": ("table", "#0072B2"),
    "manifest": ("manifest", "#CC79A7"),
    "current": ("current/options", "#56B4E9"),
    "info": ("info log", "#999999"),
}
LOGS_CALLS = True
WRITES_ON_OPEN = True
# LevelDB has no call that reports an option; the patched one reports index_blocks
NOT_READ_BACK = ("sync", *_NOT_REPORTED)
JOBS = {"leveldb": "engine job"}  # compactions of background=thread (workloads/engines/leveldb/engine.c)
ADDS_MISSING = True

_NAMES = {
    "log": re.compile(r"[0-9]{6,}[.]log"),
    "table": re.compile(r"[0-9]{6,}[.](ldb|sst)"),
    "manifest": re.compile(r"MANIFEST-[0-9]{6,}"),
    "current": re.compile(r"CURRENT|[0-9]{6,}[.]dbtmp"),
    "info": re.compile(r"LOG([.]old)?"),
    "other": re.compile(r"LOCK"),
}

# The calls of a transaction: on logs (o: open, c: close, l: write, L: sync); by a flush or compaction (t: on
# a table, m: on the manifest, x: deletion).
CALLS = {
    **{"log.open": "o", "log.close": "c", "log.write": "l", "log.sync": "L"},
    **{f"table.{op}": "t" for op in ("open", "write", "sync", "close")},
    **{"manifest.write": "m", "manifest.sync": "m", "log.delete": "x", "table.delete": "x"},
}
UNORDERED = ("info",)
# flushes and compactions, at the end of a call; a compaction of all rows (maintain) begins another log
_JOB = "[tmx]*"
_LOGGED = {"off": "l+", "full": "l+L"}

# struct head of workloads/key_values/key_values.h; a kind is its index in the table of operations
_HEAD = struct.Struct(">BQI")


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; the name of a database's folder does not matter."""
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), None)


def logs_calls(config: Mapping[str, Any]) -> bool:
    """Return whether the calls are logged; those of LevelDB's own thread are not."""
    return bool(config["effective"].get("background") == "inline")


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that one transaction may make.

    A full write buffer makes a write begin another log, and then a table. A read may make a compaction due.
    """
    logged = _LOGGED[settings["sync"]]
    if settings.get("sync_every", 1) > 1:
        logged += "?"
    return re.compile(f"{_JOB}((oc)?{logged}{_JOB})?")


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that a compaction of all rows may make."""
    return re.compile(f"oc{_JOB}")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the options that a cell requests; of a cell from before they were axes `sync` alone."""
    return {"sync": cell.synchronous} | {name: cell.value(name) for name in _SETTINGS if cell.has(name)}


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
    """Return a transaction's operations and newline (workloads/key_values/key_values.c)."""
    kinds = list(all_kinds())
    given = [
        (kinds.index(kind), key, rows.to_bytes(8) if kind == "scan" else value)
        for kind, key, value, rows in operations
    ]
    return b"".join(_HEAD.pack(kind, key, len(data)) + data for kind, key, data in given) + b"\n"


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return survival.promised("leveldb", {"sync_every": 1, **settings})
