"""RocksDB: its files and settings. What survives is in experiments/engine/rocksdb.yml.

Sources: its include/rocksdb/options.h of release 9.10 (WriteOptions::sync, disableWAL, WALRecoveryMode),
file/filename.cc (names), util/threadpool_imp.cc (names of threads). It renders transactions as LevelDB's
engine does.
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
_CACHED = ("cache_index_and_filter_blocks", "pin_l0_filter_and_index_blocks_in_cache")
transactions = leveldb.transactions
rendered = leveldb.rendered


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; the name of a database's folder does not matter."""
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), None)


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return that a compaction may make any calls: they are not logged."""
    return re.compile(".*")


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
