"""Could each thread have done what it is said to have done, when it is said to have done it?

The virtual board has one CPU. So what the driver's thread does begins and ends outside the times that
it was off the CPU, and what any other thread does within them. And a thread that syncs a file writes that
file's pages.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.adapters.proberecords import taken
from analysis.checks.calls import first
from analysis.ledger.arrays import Bools, Ints, inside, ints
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import driver_tids, edges

WAITS = ("commit_wait", "data_wait", "node_wait")
# what a thread does that is recorded with it, from its begin to its end
_DONE = ("sync", *WAITS, "flush", "commit", "checkpoint", "writeback")


def alternate(made: Ledger, bios: np.ndarray) -> list[str]:
    """A bio is of the driver's thread while that is on the CPU, of another while it is not.

    bios: RECORD's fields, those of the window.
    """
    time, tid = ints(bios["begin_ns"]), ints(bios["tid"])
    found, threads = [], driver_tids(made.few)
    for thread in threads.tolist():
        off, there = _off(made, thread, threads.size, time)
        if wrong := int(((tid == thread) & there & off).sum()):
            found.append(f"{wrong} bios of the driver's thread {thread} while it was off the CPU")
        if wrong := int(((tid != thread) & there & ~off).sum()):
            found.append(f"{wrong} bios of other threads while the driver's thread {thread} had the CPU")
    return found + [text for thread in threads.tolist() for text in _records(made, thread, threads.size)]


def _off(made: Ledger, thread: int, threads: int, times: Ints) -> tuple[Bools, Bools]:
    """Return of each time whether the thread was off the CPU, and whether that is known.

    Of one of several threads it is known from the first to the last time that it was: it may have
    begun, and ended, within the window.
    """
    rows = made.few["off_cpu"]
    rows = taken(rows, ints(rows["tid"]) == thread)
    begins, ends = ints(rows["begin_ns"]), ints(rows["end_ns"])
    off = inside(times, begins, ends) >= 0
    if threads == 1:
        return off, np.ones(times.size, bool)
    there = np.zeros(times.size, bool) if not rows.size else (times >= begins[0]) & (times < ends[-1])
    return off, there


def _records(made: Ledger, thread: int, threads: int) -> list[str]:
    """The driver enters and leaves its transactions, its calls and what is recorded of it (_DONE) on the
    CPU; what is recorded of another thread begins and ends while the driver is off."""
    found = []
    own = {"transactions": made.given.transactions, "calls": made.vfs}
    if threads > 1:  # which of them makes the transactions and calls is not recorded
        own = {}
    edges_of = {name: (np.r_[edges(table)], True) for name, table in own.items()}
    begin, end = made.given.window
    for name in _DONE:
        rows = made.few[name]
        mine = ints(rows["tid"]) == thread
        for which, is_own in ((mine, True), (~mine, False)):
            times = np.r_[spans(taken(rows, which))]
            told = f"{name.replace('_', ' ')} records" + ("" if is_own else " of other threads")
            edges_of[told] = (times[(times >= begin) & (times < end)], is_own)
    for name, (times, is_own) in edges_of.items():
        off, there = _off(made, thread, threads, times)
        if wrong := int(((off == is_own) & there).sum()):
            state = "was off the CPU" if is_own else "had the CPU"
            found.append(f"{wrong} edges of {name} while the driver's thread {thread} {state}")
    return found


def in_turn(bios: np.ndarray) -> list[str]:
    """The bios are numbered in the order in which they were queued. bios: RECORD's fields."""
    times = ints(bios["begin_ns"])[np.argsort(bios["d"], kind="stable")]
    wrong = int((times[1:] < times[:-1]).sum())
    return [f"{wrong} bios were queued before one with a lesser number"] if wrong else []


def spans(rows: np.ndarray, thread: int | None = None) -> tuple[Ints, Ints]:
    """Return the begins and the ends of records; of one thread, if one is named."""
    if thread is not None:
        rows = taken(rows, ints(rows["tid"]) == thread)
    return ints(rows["begin_ns"]), ints(rows["end_ns"])


def own_file(made: Ledger) -> list[str]:
    """A page of a file that the driver's thread submits is of the file that it syncs.

    Or of the file that it is in another call of: the close of a file that was truncated may write it
    (mount's auto_da_alloc), and so does the xWrite by which it becomes too long to be kept in its inode
    (mount's inline_data).
    """
    tids = driver_tids(made.few)
    by = made.ledger.filter(pl.col("tid").is_in(tids.tolist())).select("command", "sync", during="vfs_call")
    pieces = made.pieces.filter(
        pl.col("inode").is_not_null()
        & (pl.col("file").cast(pl.String).fill_null("") != "directory")
        & ~pl.col("moved")
    )
    table = (
        pieces.join(by, on="command", how="inner")
        .join(made.syncs.select("sync", synced="inode"), on="sync", how="left")
        .join(made.vfs.select("call", called="inode"), left_on="during", right_on="call", how="left")
    )
    if not made.given.calls:
        table = table.filter(pl.col("synced").is_not_null())
    wrong = table.filter((pl.col("inode") != pl.coalesce("synced", "called")).fill_null(True))
    return first(
        wrong, "pages that the driver wrote of a file it was not syncing", "command", "inode", "synced"
    )
