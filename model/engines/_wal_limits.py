"""Check SQLite's logged file calls against wal_autocheckpoint and journal_size_limit, in WAL mode.

main.c and wal.c: a commit that leaves wal_autocheckpoint frames or more starts a checkpoint
(sqlite3WalDefaultHook). A commit to a restarted log truncates the file if it is longer than
journal_size_limit and the frames (sqlite3WalFrames, walLimitSize). A limit of 0 or less disables the first, a
negative one the second.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

_HEADER, _FRAME_HEADER = 32, 24  # bytes: of the log, and before the page of a frame
_SETTINGS = ("wal_autocheckpoint", "journal_size_limit", "page_size")


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return how transactions' calls contradict these settings. calls: VFS of schemas/ledger.py."""
    if wrong := [key for key in _SETTINGS if type(settings.get(key)) is not int]:
        return [f"{wrong[0]} is {settings.get(wrong[0])!r}, not a whole number"]
    every, limit, page = (settings[key] for key in _SETTINGS)
    # a passive checkpoint stops at what a reader sees: here the database without its log (walCheckpoint)
    every = 0 if settings.get("held_reader") == "yes" else every
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
    reasons = []
    if not other.is_empty():
        number, copied, count = other.row(0)
        reasons.append(
            f"wal_autocheckpoint is {every}, but {other.height} transactions contradict it: first "
            f"transaction {number}, {'a' if copied else 'no'} checkpoint with {count} frames"
        )
    if calls.filter(cut & pl.col("transaction").is_null()).is_empty() and (number := _cut(table, limit)) >= 0:
        reasons.append(
            f"journal_size_limit is {limit}, but transaction {number} leaves the log longer or shorter"
        )
    return reasons


def _cut(table: pl.DataFrame, limit: int) -> int:
    """Return the first transaction that truncates the log against the limit; -1: none."""
    size = 0
    for number, end, begun, _, cut in table.iter_rows():
        size, kept = max(size, end), max(end, limit)
        if cut != (kept if begun and limit >= 0 and size > kept else None):
            return int(number)
        size = size if cut is None else cut
    return -1
