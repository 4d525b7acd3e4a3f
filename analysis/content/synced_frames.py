"""Check that each synced WAL frame is on the device, by its header and without a ledger.

A header has the page number and the log's salts (wal.c). It lies at the same place of a sector on the device
as in the file, whatever the filesystem's block size is.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.content.blocks import SECTOR
from analysis.content.wal import FRAME_HEADER, headers
from analysis.observers import Content as Kept
from base.arrays import Ints, LastBefore, ints

_PLACES = 9  # bits for a place in a sector
# ns: resolution of vfs.csv, in ticks of the clock's counter (workloads/ticks.h)
_TICKS_NS = 250


def missing(calls: pl.DataFrame, kept: Kept) -> pl.DataFrame:
    """Return the xWrites of headers (rows of vfs.csv) whose frame is missing.

    A frame is missing if no command wrote it between the xWrite and the end of the log's next xSync.
    """
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
        # a header that continues in the next sector may be split there
        & (pl.col("offset") % SECTOR <= SECTOR - FRAME_HEADER)
    )
    key, time = _written(kept)
    wanted_key = (ints(wanted["page"]) << _PLACES) | (ints(wanted["offset"]) % SECTOR)
    last = LastBefore(key, time).event(wanted_key, ints(wanted["synced"]))
    since = np.r_[time, -1][last]
    gone = (last < 0) | (since < ints(wanted["begin_ns"]) - _TICKS_NS)
    return wanted.filter(pl.Series(gone)).drop("synced")


def _written(kept: Kept) -> tuple[Ints, Ints]:
    """Return (page and place) of each frame header that was written, and the issue time of its command."""
    size = kept.data.size // SECTOR * SECTOR
    sectors = kept.data[:size].reshape(-1, SECTOR)
    first, salts = headers(sectors[:, :32].copy().view(">u4").astype(np.uint32))
    words = kept.data[:size].view(">u8")
    at = np.flatnonzero(np.isin(words, salts)) * 8 - 8  # the salts follow the page number and database size
    at = at[(at >= 0) & ~np.isin(at, first * SECTOR + 8)]  # skip the salts of the log's own header
    number = np.ascontiguousarray(kept.data[at[:, None] + np.arange(4)]).view(">u4")[:, 0]
    rows = np.flatnonzero(kept.begin >= 0)
    record = rows[np.searchsorted(kept.begin[rows], at, side="right") - 1] if rows.size else at
    return (number.astype(np.int64) << _PLACES) | (at % SECTOR), kept.time[record]
