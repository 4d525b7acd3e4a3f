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
from analysis.ledger.arrays import Bools, Intervals, Ints, at, inside, ints, length_within, union
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import driver_tids, edges

_WAITS = ("commit_wait", "data_wait", "node_wait")
# what a thread does that is recorded with it, from its begin to its end
_DONE = ("sync", *_WAITS, "flush", "commit", "checkpoint", "writeback")
_AWAKE_NS = 100_000  # at most 23 µs on clean runs


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
            times = np.r_[_of(taken(rows, which))]
            told = f"{name.replace('_', ' ')} records" + ("" if is_own else " of other threads")
            edges_of[told] = (times[(times >= begin) & (times < end)], is_own)
    for name, (times, is_own) in edges_of.items():
        off, there = _off(made, thread, threads, times)
        if wrong := int(((off == is_own) & there).sum()):
            state = "was off the CPU" if is_own else "had the CPU"
            found.append(f"{wrong} edges of {name} while the driver's thread {thread} {state}")
    return found


def waits(made: Ledger) -> list[str]:
    """While a sync waits for a flush, or for a commit of the journal, its thread is off the CPU.

    But for what it does before it sleeps and after it is woken (_AWAKE_NS).
    """
    begin, end = made.given.window
    found = []
    for thread in driver_tids(made.few).tolist():
        off = union([Intervals(*_of(made.few["off_cpu"], thread))])
        synced = made.syncs.filter(pl.col("tid") == thread)
        for what, (begins, ends) in {
            "flushes": _flushes(made, edges(synced)),
            "waits for a commit": _of(made.few["commit_wait"], thread),
        }.items():
            awake = ends - begins - length_within(off, begins, ends)
            awake = awake[(begins >= begin) & (ends <= end)]
            if wrong := int((awake > _AWAKE_NS * made.given.slower).sum()):
                found.append(f"{wrong} {what} in which the thread {thread} that waited had the CPU")
    return found


def _flushes(made: Ledger, syncs: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the begins and ends of the flush commands that lie within the syncs of a thread."""
    flushes = made.ledger.filter(pl.col("kind") == "flush")
    begins, ends = ints(flushes["issue_ns"]), ints(flushes["complete_ns"])
    row = inside(begins, *syncs)
    waited = (row >= 0) & (ends <= at(syncs[1], row))
    return begins[waited], ends[waited]


def explained(made: Ledger) -> list[str]:
    """What a sync waited for has a record: while it was off the CPU, it waited for data, for a commit or
    for pages that say where data is, or a checkpoint, a flush or a read was under way; but for _AWAKE_NS."""
    few, found = made.few, []
    commands = made.ledger.filter(pl.col("kind").is_in(["flush", "read"]))
    others = [Intervals(ints(commands["issue_ns"]), ints(commands["complete_ns"]))]
    others += [Intervals(*_of(few[name])) for name in ("checkpoint", "flush")]
    for thread in driver_tids(few).tolist():
        known = union([*others, *(Intervals(*_of(few[name], thread)) for name in _WAITS)])
        away = union([Intervals(*_of(few["off_cpu"], thread)), known])
        begins, ends = edges(made.syncs.filter(pl.col("tid") == thread))
        unknown = length_within(away, begins, ends) - length_within(known, begins, ends)
        if wrong := int((unknown > _AWAKE_NS * made.given.slower).sum()):
            found.append(f"{wrong} syncs of the thread {thread} waited for nothing that is recorded")
    return found


def _of(rows: np.ndarray, thread: int | None = None) -> tuple[Ints, Ints]:
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
