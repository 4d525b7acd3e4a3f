"""Compare WAL frames on the device with the calls that SQLite logged.

A frame's header begins with the page number, and has the log's salts (wal.c). vfs.csv has the page number for
the xWrite of each header.
"""

import numpy as np
import polars as pl

from analysis.adapters.drivertables import TICKS_NS
from analysis.content.blocks import BLOCK, SECTOR
from analysis.content.units import Evidence
from analysis.content.versions import Versions
from analysis.content.wal import FRAME_HEADER, HEADER, headers
from analysis.observers import Content as Kept
from base.arrays import Ints, LastBefore, ints

_FRAMES = 28  # bits for a frame's number in a key
_PLACES = 9  # bits for a place in a sector


def other_pages(given: Evidence, of_wal: Versions, size: int) -> Ints:
    """Return the units with a frame header of another page than its last xWrite logged.

    size: bytes of a page. Skips headers with another xWrite before the unit's command was done, and headers
    of zeros, which were truncated.
    """
    written, length = given.written, FRAME_HEADER + size
    nothing = np.empty(0, np.int64)
    is_log = (pl.col("file").cast(pl.String) == "wal") & (pl.col("op").cast(pl.String) == "write")
    calls = written.calls.filter(is_log & pl.col("bytes").is_in([HEADER, FRAME_HEADER, size]).not_())
    logged = written.calls.filter(is_log & (pl.col("bytes") == FRAME_HEADER) & pl.col("page").is_not_null())
    if calls.height or not logged.height:
        return nothing  # headers written in two parts have no page number
    of_call = (ints(logged["inode"]) << _FRAMES) | ((ints(logged["offset"]) - HEADER) // length)
    ended, begun = (LastBefore(of_call, ints(logged[name])) for name in ("end_ns", "begin_ns"))
    page, blocks, units = ints(logged["page"]), given.blocks, of_wal.units
    begin, wrong = of_wal.page * BLOCK, [nothing]
    for step in range((BLOCK - 1) // length + 1):
        frame = -(-(begin - HEADER) // length) + step
        at = HEADER + frame * length - begin
        selected = np.flatnonzero((frame >= 0) & (at >= 0) & (at < BLOCK))
        key = (of_wal.inode[selected] << _FRAMES) | frame[selected]
        last = ended.find(key, written.queued[units[selected]])
        same = (last >= 0) & (last == begun.find(key, written.done[units[selected]]))
        selected, last = selected[same], last[same]
        sector = blocks.sectors[of_wal.row[selected], at[selected] // SECTOR]
        raw = blocks.log[sector[:, None], (at[selected] % SECTOR)[:, None] + np.arange(4)]
        number = np.ascontiguousarray(raw).view(">u4")[:, 0].astype(np.int64)
        wrong.append(units[selected[(number != 0) & (number != page[last])]])
    return np.concatenate(wrong)


def missing_frames(calls: pl.DataFrame, kept: Kept) -> pl.DataFrame:
    """Return the xWrites of headers (rows of vfs.csv) of synced frames that are missing. Needs no ledger.

    A frame is missing if no command wrote it between the xWrite and the end of the log's next xSync. Its
    header lies at the same place of a sector on the device as in the file, whatever the block size is.
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
    last = LastBefore(key, time).find(wanted_key, ints(wanted["synced"]))
    since = np.r_[time, -1][last]
    gone = (last < 0) | (since < ints(wanted["begin_ns"]) - TICKS_NS)
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
