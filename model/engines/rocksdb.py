"""RocksDB: file roles, options, the order of file calls in a transaction, and what survives a crash.

Sources: its include/rocksdb/options.h of release 9.10 (WriteOptions::sync, disableWAL, WALRecoveryMode),
file/filename.cc (names), db/db_impl/ (order of calls), util/threadpool_imp.cc (names of threads). It renders
transactions as LevelDB's engine does. Class Engine of model/engines loads the module by name.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from model.cell import Cell
from model.engines import leveldb, survival

TITLE = "RocksDB"
FILES = {
    "log": leveldb.FILES["log"],
    "table": leveldb.FILES["table"],
    "manifest": leveldb.FILES["manifest"],
    "current": ("current/options", "#56B4E9"),
    "info": ("info log", "#999999"),
}
LOGS_CALLS = True
WRITES_ON_OPEN = True
JOBS = {"rocksdb:": "engine job"}  # of background=thread: rocksdb:high flushes, rocksdb:low compacts
ADDS_MISSING = True

_NAMES = {
    "log": re.compile(r"[0-9]{6,}[.]log"),
    "table": re.compile(r"[0-9]{6,}[.]sst"),
    "manifest": re.compile(r"MANIFEST-[0-9]{6,}"),
    "current": re.compile(r"CURRENT|IDENTITY|OPTIONS-[0-9]{6,}([.]dbtmp)?|[0-9]{6,}[.]dbtmp"),
    "info": re.compile(r"LOG([.]old[.][0-9]+)?"),
    "other": re.compile(r"LOCK"),
}

# The calls of a transaction: on logs (o: open, c: close, u: truncation to their size, l: write, L: sync; k: a
# write that is not logged), by a flush or compaction (t: on a table, m: on the manifest, x: deletion), and on
# the folder (D: sync).
CALLS = {
    **{"log.open": "o", "log.close": "c", "log.truncate": "u", "log.write": "l", "log.sync": "L"},
    **{f"table.{op}": "t" for op in ("open", "write", "truncate", "sync", "close")},
    **{"manifest.write": "m", "manifest.sync": "m", "log.delete": "x", "table.delete": "x"},
    **{"directory.sync": "D", "log.keep": "k"},
}
UNORDERED = ("info",)
_JOB = "[tDmucx]*"
_CACHED = ("cache_index_and_filter_blocks", "pin_l0_filter_and_index_blocks_in_cache")

transactions = leveldb.transactions
rendered = leveldb.rendered


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; the name of a database's folder does not matter."""
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), None)


def logs_calls(config: Mapping[str, Any]) -> bool:
    """Return whether the calls are logged; those of RocksDB's own threads are not."""
    return bool(config["effective"]["background"] == "inline")


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that one transaction may make.

    A full write buffer makes a write begin another log, and then a table. The first sync of that log also
    syncs the folder.
    """
    logged = "o?l+" if settings["disable_wal"] == "off" else "k"
    if settings["sync"] == "full":
        logged += "LD?"
    return re.compile(f"({logged}{_JOB})?")


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that a flush and a compaction of all rows may make."""
    return re.compile(f"o?{_JOB}")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the options that a cell requests; of a cell from before an axis without it."""
    cached = {name: cell.value(name) for name in _CACHED if cell.has(name)}
    return cached | {
        "sync": cell.synchronous,
        "background": cell.background,
        "disable_wal": cell.disable_wal,
        "wal_recovery_mode": cell.wal_recovery_mode,
        "write_buffer_size": cell.write_buffer_size,
        "target_file_size_base": cell.max_file_size,
        "block_cache": cell.block_cache,
        "bloom_bits": cell.bloom_bits,
    }


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return survival.promised("rocksdb", settings)
