"""RocksDB: its files, its settings, and what survives.

Sources: its include/rocksdb/options.h of release 9.10 (WriteOptions::sync, disableWAL, WALRecoveryMode),
file/filename.cc (names), util/threadpool_imp.cc (names of threads). It renders transactions as LevelDB's
engine does.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from model.cell import Cell
from model.engines import leveldb
from model.engines.survival import ALL, HOLES, RECENT, UNOPENED, UNSYNCED

TITLE = "RocksDB"
FILES = {
    "log": leveldb.FILES["log"],
    "table": leveldb.FILES["table"],
    "manifest": leveldb.FILES["manifest"],
    "current": ("current/options", "#56B4E9"),
    "info": ("info log", "#999999"),
}
JOBS = {"rocksdb:": "engine job"}  # rocksdb:high flushes, rocksdb:low compacts
ADDS_MISSING = True

_NAMES = {
    "log": re.compile(r"[0-9]{6,}[.]log"),
    "table": re.compile(r"[0-9]{6,}[.]sst"),
    "manifest": re.compile(r"MANIFEST-[0-9]{6,}"),
    "current": re.compile(r"CURRENT|IDENTITY|OPTIONS-[0-9]{6,}([.]dbtmp)?|[0-9]{6,}[.]dbtmp"),
    "info": re.compile(r"LOG([.]old[.][0-9]+)?"),
    "other": re.compile(r"LOCK"),
}
# What survives a crash of the system by recovery mode: with synced writes, whose log can end in an incomplete
# record only; and without, when any part of the log after the last synced byte can be missing.
_SYSTEM = {
    "kTolerateCorruptedTailRecords": {"full": ALL, "off": UNOPENED},
    "kAbsoluteConsistency": {"full": UNOPENED, "off": UNOPENED},
    "kPointInTimeRecovery": {"full": ALL, "off": UNSYNCED},
    "kSkipAnyCorruptedRecords": {"full": ALL, "off": HOLES},
}

transactions = leveldb.transactions
rendered = leveldb.rendered


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; the name of a database's folder does not matter."""
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), None)


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return that a compaction may make any calls: they are not logged."""
    return re.compile(".*")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the options that a cell requests."""
    return {
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
    """Return what survives a crash of the process, and of the system.

    Without a log, these are the transactions in tables, which are synced.
    """
    by_sync = _SYSTEM[settings["wal_recovery_mode"]]
    system = by_sync[settings["sync"]]
    return {"off": (ALL, system), "on": (RECENT, RECENT)}[settings["disable_wal"]]
