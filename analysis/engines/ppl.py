"""SQLite/PPL: its files, its settings, and what survives (docs/ppl.md).

But for what is logged, of pages in the place of statements, it is as SQLite/SSL: a commit is durable when its
records are, or the pages of the merge or checkpoint that is made in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.engines import sqlite, ssl

TITLE = "SQLite/PPL"
_SETTINGS = (
    *("page_size", "cache_size", "log_size", "dirty_pages"),
    *("log_medium", "pcm_line", "pcm_write_ns", "sector_size", "page_record"),
)
FILES = {
    "database": sqlite.FILES["database"],
    "wal": sqlite.FILES["wal"],
    "merge": ("merged page", "#B8860B"),
    "pages": ("page log", "#8C564B"),
}
# what a file of it begins with (workloads/engines/ppl/page_log.c)
HEADS = {"pages": (b"page log\0",)}
PROPERTIES = ssl.PROPERTIES
LOGS_CALLS = False
OF_ANY_SQLITE = False
UNASKED = ssl.UNASKED
CALLS: dict[str, str] = {}
UNORDERED: tuple[str, ...] = ()
order = None
UNFINISHED = re.compile("(?!)")  # none is seen

_SUFFIXES = {"-ppl": "pages", "-merge": "merge"}


def role(name: str, database: str) -> str | None:
    """Return which of its files a name is; but for the log and what it merges they are SQLite's."""
    found = next((kind for end, kind in _SUFFIXES.items() if name.endswith(end)), None)
    return found or sqlite.role(name, database)


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
survives = ssl.survives
