"""Check that a WAL frame is of the page that SQLite's call logged.

A frame's header begins with the page number (wal.c). vfs.csv has that number for the xWrite of each header.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.content.blocks import BLOCK, SECTOR
from analysis.content.evidence import Evidence
from analysis.content.versions import Versions
from analysis.content.wal import FRAME_HEADER, HEADER
from base.arrays import Ints, LastBefore, ints

_FRAMES = 28  # bits for a frame's number in a key


def other_pages(given: Evidence, of_wal: Versions, size: int) -> Ints:
    """Return the units with a frame header of another page than its last xWrite logged.

    size: bytes of a page. Skips headers with another xWrite before the unit's command was done, and headers
    of zeros, which were truncated.
    """
    written, length = given.written, FRAME_HEADER + size
    nothing = np.empty(0, np.int64)
    if written is None:
        return nothing
    is_log = (pl.col("file").cast(pl.String) == "wal") & (pl.col("op").cast(pl.String) == "write")
    calls = written.calls.filter(is_log & pl.col("bytes").is_in([HEADER, FRAME_HEADER, size]).not_())
    headers = written.calls.filter(is_log & (pl.col("bytes") == FRAME_HEADER) & pl.col("page").is_not_null())
    if calls.height or not headers.height:
        return nothing  # headers written in two parts have no page number
    of_call = (ints(headers["inode"]) << _FRAMES) | ((ints(headers["offset"]) - HEADER) // length)
    ended, begun = (LastBefore(of_call, ints(headers[name])) for name in ("end_ns", "begin_ns"))
    page, blocks, units = ints(headers["page"]), given.blocks, of_wal.units
    begin, wrong = of_wal.page * BLOCK, [nothing]
    for step in range((BLOCK - 1) // length + 1):
        frame = -(-(begin - HEADER) // length) + step
        at = HEADER + frame * length - begin
        which = np.flatnonzero((frame >= 0) & (at >= 0) & (at < BLOCK))
        key = (of_wal.inode[which] << _FRAMES) | frame[which]
        last = ended.event(key, written.queued[units[which]])
        same = (last >= 0) & (last == begun.event(key, written.done[units[which]]))
        which, last = which[same], last[same]
        sector = blocks.sectors[of_wal.row[which], at[which] // SECTOR]
        raw = blocks.log[sector[:, None], (at[which] % SECTOR)[:, None] + np.arange(4)]
        number = np.ascontiguousarray(raw).view(">u4")[:, 0].astype(np.int64)
        wrong.append(units[which[(number != 0) & (number != page[last])]])
    return np.concatenate(wrong)
