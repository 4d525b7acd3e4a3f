"""Find WAL frames on the device with another page number than the logged xWrite of their header.

A frame's header begins with the page number, and has the log's salts (wal.c). vfs.csv has the page number for
the xWrite of each header.
"""

import numpy as np
import polars as pl

from analysis.content.blocks import BLOCK, SECTOR
from analysis.content.units import Evidence
from analysis.content.versions import Versions
from analysis.content.wal import FRAME_HEADER, HEADER
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
        last = ended.event(key, written.queued[units[selected]])
        same = (last >= 0) & (last == begun.event(key, written.done[units[selected]]))
        selected, last = selected[same], last[same]
        sector = blocks.sectors[of_wal.row[selected], at[selected] // SECTOR]
        raw = blocks.log[sector[:, None], (at[selected] % SECTOR)[:, None] + np.arange(4)]
        number = np.ascontiguousarray(raw).view(">u4")[:, 0].astype(np.int64)
        wrong.append(units[selected[(number != 0) & (number != page[last])]])
    return np.concatenate(wrong)
