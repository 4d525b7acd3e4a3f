"""Is each frame of a WAL that was synced on the device? Told without a ledger, by its header.

A header has the page's number and the log's salts (wal.c), and lies at the same place of a sector on the
device as in the file, whatever the filesystem's blocks are.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.content.blocks import SECTOR
from analysis.content.wal import FRAME_HEADER, headers
from analysis.observers import Content as Kept
from base.arrays import Ints, LastBefore, ints

_PLACES = 9  # bits of a place in a sector
# ns: vfs.csv is in ticks of the counter behind the clock (workloads/ticks.h)
_TICKS_NS = 250


def missing(calls: pl.DataFrame, kept: Kept) -> pl.DataFrame:
    """Return the xWrites of headers (rows of vfs.csv) whose frame no command wrote between them and the end
    of the next xSync of the log."""
    none = calls.clear()
    if kept.unkept:
        return none
    of_log = calls.filter(pl.col("file").cast(pl.String) == "wal")
    op = pl.col("op").cast(pl.String)
    synced = pl.when(op == "sync").then(pl.col("end_ns")).otherwise(None).fill_null(strategy="backward")
    wanted = of_log.with_columns(synced=synced.over("inode")).filter(
        (op == "write")
        & (pl.col("bytes") == FRAME_HEADER)
        & pl.col("page").is_not_null()
        & pl.col("synced").is_not_null()
        # one that goes on in the next sector may be cut there
        & (pl.col("offset") % SECTOR <= SECTOR - FRAME_HEADER)
    )
    key, time = _found(kept)
    asked = (ints(wanted["page"]) << _PLACES) | (ints(wanted["offset"]) % SECTOR)
    last = LastBefore(key, time).find(asked, ints(wanted["synced"]))
    since = np.r_[time, -1][last]
    gone = (last < 0) | (since < ints(wanted["begin_ns"]) - _TICKS_NS)
    return wanted.filter(pl.Series(gone)).drop("synced")


def _found(kept: Kept) -> tuple[Ints, Ints]:
    """Return page and place of each frame's header that was written, and when its command was issued."""
    size = kept.data.size // SECTOR * SECTOR
    sectors = kept.data[:size].reshape(-1, SECTOR)
    first, salts = headers(sectors[:, :32].copy().view(">u4").astype(np.uint32))
    words = kept.data[:size].view(">u8")
    at = np.flatnonzero(np.isin(words, salts)) * 8 - 8  # behind page and size of the database
    at = at[(at >= 0) & ~np.isin(at, first * SECTOR + 8)]  # a log's own header has its salts there
    number = np.ascontiguousarray(kept.data[at[:, None] + np.arange(4)]).view(">u4")[:, 0]
    rows = np.flatnonzero(kept.begin >= 0)
    record = rows[np.searchsorted(kept.begin[rows], at, side="right") - 1] if rows.size else at
    return (number.astype(np.int64) << _PLACES) | (at % SECTOR), kept.time[record]
