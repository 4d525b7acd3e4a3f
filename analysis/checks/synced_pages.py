"""Check that each page that the engine wrote and synced was on the device when the sync ended."""

import numpy as np
import polars as pl

from analysis.ledger.build import Ledger
from analysis.ledger.files import PAGE, PAGE_BITS, pages
from base.arrays import Bools, Ints, LastBefore, at, first_after, ints
from model import filesystems

NEVER = np.iinfo(np.int64).max


def written_out(made: Ledger) -> list[str]:
    """Return a message on written and synced pages that were not on the device when the sync ended.

    Checks the last xWrite of a page before the sync. Skips pages that a truncate removed before it, and a
    file's first page where the filesystem may keep it in the inode. A copy in the journal is not enough, as a
    sync also writes the file's journalled pages to their home. It is enough if pages do come home, but none
    was there when its sync ended: Linux 6.1 leaves that to the next sync.
    """
    if not made.given.calls:
        return []
    write = made.vfs.filter((pl.col("op") == "write") & (pl.col("bytes") > 0))
    row, page = pages(ints(write["offset"]), ints(write["bytes"]))
    inode, begin, written = (ints(write[name])[row] for name in ("inode", "begin_ns", "end_ns"))

    syncs = made.vfs.filter(pl.col("op") == "sync").sort("begin_ns")
    begins, ends = ints(syncs["begin_ns"]), ints(syncs["end_ns"])
    key = (inode << PAGE_BITS) | page
    again = first_after(key, begin + 1, key, begin)
    sync = first_after(inode, written, ints(syncs["inode"]), begins)
    due = (sync <= made.given.window[1]) & (sync < again)
    due[due] = ~_removed(made.vfs, inode[due], page[due], begin[due], sync[due])
    due &= (page > 0) | (not filesystems.by_name(made.given.layout.filesystem).inline_data)
    call = ints(write["call"])[row]
    end = np.full(sync.size, -1)
    end[due] = ends[np.searchsorted(begins, sync[due])]
    wanted = (call << PAGE_BITS) | page
    is_home = pl.col("of").is_null()
    home = _first_of(*_brought(made, made.pieces.filter(is_home)), wanted)
    late = due & (home > end)
    if (late == due).all() and (home[due] < NEVER).any():
        late &= _first_of(*_brought(made, made.pieces.filter(~is_home)), wanted) > end
    lost = np.flatnonzero(late)
    if not lost.size:
        return []
    place = f"first call {call[lost[0]]}, page {page[lost[0]]}"
    return [
        f"{lost.size} pages that the engine wrote and synced were not on the device when the sync ended: "
        + place
    ]


def _brought(made: Ledger, pieces: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the key (xWrite and page) and the completion time of each file page in the pieces."""
    done = made.ledger.select("command", "complete_ns")
    rows = pieces.filter(pl.col("vfs_call").is_not_null()).join(done, on="command")
    row, page = pages(ints(rows["offset"]), ints(rows["bytes"]))
    return (ints(rows["vfs_call"])[row] << PAGE_BITS) | page, ints(rows["complete_ns"])[row]


def _first_of(keys: Ints, times: Ints, wanted: Ints) -> Ints:
    """Return the earliest time of each key, NEVER for a missing key."""
    return first_after(wanted, np.zeros(wanted.size, np.int64), keys, times)


def _removed(vfs: pl.DataFrame, inode: Ints, page: Ints, begin: Ints, end: Ints) -> Bools:
    """Return for each page whether the file was truncated below it between begin and end."""
    calls = vfs.filter(pl.col("op") == "truncate")
    files, sizes, times = (ints(calls[name]) for name in ("inode", "offset", "begin_ns"))
    following = LastBefore(files, -times)
    removed, left, since = np.zeros(inode.size, bool), np.arange(inode.size), begin
    while left.size:
        place = following.event(inode[left], -since)
        there = (place >= 0) & (at(times, place) < end[left])
        left, place = left[there], place[there]
        gone = page[left] * PAGE >= sizes[place]
        removed[left[gone]] = True
        left, since = left[~gone], times[place[~gone]] + 1
    return removed
