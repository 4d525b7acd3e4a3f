"""SQLite/SSL: its files, its settings, and what survives (docs/ssl.md).

What is rendered is SQLite's SQL. A commit is durable when its record is, or the WAL of the checkpoint that is
made in its place: all of them survive whatever ends the process or the system. With pcm the log is in
persistent memory, or there is no run: the driver maps it with MAP_SYNC, or fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.engines import sqlite
from analysis.engines.survival import ALL

TITLE = "SQLite/SSL"
_SETTINGS = (
    *("page_size", "cache_size", "log_size", "log_full", "dirty_pages"),
    *("log_medium", "pcm_line", "pcm_write_ns", "not_repeatable"),
)
FILES = {
    "database": sqlite.FILES["database"],
    "wal": sqlite.FILES["wal"],
    "statements": ("statement log", "#7A4B1F"),
}
# what a file of it begins with (workloads/engines/ssl/log.c)
HEADS = {"statements": (b"statement log\0",)}
PROPERTIES = "properties"
LOGS_CALLS = False
UNASKED = {"locking_mode": "exclusive", "mmap_size": "0", "temp_store": "0"}
CALLS: dict[str, str] = {}
UNORDERED: tuple[str, ...] = ()
order = None
UNFINISHED = re.compile("(?!)")  # none is seen

_LOG = "-sla"


def role(name: str, database: str) -> str | None:
    """Return which of its files a name is; but for the log they are SQLite's."""
    return "statements" if name.endswith(_LOG) else sqlite.role(name, database)


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Nothing: no calls of its files are logged."""
    return []


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return that a checkpoint may call whatever it likes: its calls are not logged."""
    return re.compile(".*")


def requested(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a cell asks for, as far as it does."""
    return {name: cell[name] for name in _SETTINGS if name in cell}


release = sqlite.release
transactions = sqlite.transactions
transactions_of_file = sqlite.transactions_of_file
rendered = sqlite.rendered


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return ALL, dict.fromkeys(("fdatasync", "msync", "pcm"), ALL)[settings["log_medium"]]
