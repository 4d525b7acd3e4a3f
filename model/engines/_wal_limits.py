"""What SQLite's calls say of wal_autocheckpoint and journal_size_limit, in WAL mode.

main.c and wal.c: a commit that leaves wal_autocheckpoint frames or more begins a checkpoint
(sqlite3WalDefaultHook), and one of a log that was begun again cuts the file, if it is longer than
journal_size_limit and the frames (sqlite3WalFrames, walLimitSize). From 0 or -1 on down neither is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

_HEADER, _FRAME_HEADER = 32, 24  # bytes: of the log, and of a frame, which a page follows
_SETTINGS = ("wal_autocheckpoint", "journal_size_limit", "page_size")


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return in what transactions' calls are not of these settings. calls: ledger_schema.py, VFS."""
    if wrong := [key for key in _SETTINGS if type(settings.get(key)) is not int]:
        return [f"{wrong[0]} is {settings.get(wrong[0])!r}, no number"]
    every, limit, page = (settings[key] for key in _SETTINGS)
    of_wal, write = pl.col("file") == "wal", pl.col("op") == "write"
    logged, cut = of_wal & write, of_wal & (pl.col("op") == "truncate")
    made = calls.filter(pl.col("transaction").is_not_null()).group_by("transaction", maintain_order=True)
    table = made.agg(
        end=(pl.col("offset") + pl.col("bytes")).filter(logged).max(),
        begun=(pl.col("offset").filter(logged) == 0).any(),
        copied=(write & (pl.col("file") == "database")).any(),
        cut=pl.col("offset").filter(cut).first(),
    ).filter(pl.col("end").is_not_null())
    frames = (pl.col("end") - _HEADER) // (_FRAME_HEADER + page)
    due = (frames >= every) if every > 0 else pl.lit(value=False)
    other = table.filter(pl.col("copied") != due).select("transaction", "copied", frames=frames)
    found = []
    if not other.is_empty():
        number, copied, there = other.row(0)
        found.append(
            f"wal_autocheckpoint is {every}, and {other.height} transactions are not of it: first "
            f"transaction {number}, {'a' if copied else 'no'} checkpoint with {there} frames"
        )
    if calls.filter(cut & pl.col("transaction").is_null()).is_empty() and (number := _cut(table, limit)) >= 0:
        found.append(
            f"journal_size_limit is {limit}, and transaction {number} leaves the log of another size"
        )
    return found


def _cut(table: pl.DataFrame, limit: int) -> int:
    """Return the first transaction that cuts the log and should not, or the reverse; -1: none."""
    size = 0
    for number, end, begun, _, cut in table.iter_rows():
        size, kept = max(size, end), max(end, limit)
        if cut != (kept if begun and limit >= 0 and size > kept else None):
            return int(number)
        size = size if cut is None else cut
    return -1
