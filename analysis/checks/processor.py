"""Could each thread have done what it is said to have done, when it is said to have done it?

The virtual board has one CPU. So what the driver's thread does lies outside the times that it was
off the CPU, and what any other thread does lies within them. And a thread that syncs a file
writes that file's pages.
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
    """The driver enters and leaves its calls, syncs and transactions on the CPU; a commit begins
    and ends while it is off."""
    found = []
    begin, end = made.given.window
    tables = {
        "transactions": made.given.transactions,
        "calls": made.vfs,
        "syncs": made.syncs.filter(pl.col("tid") == thread),
    }
    if threads > 1:  # which of them makes the transactions and calls is not recorded
        tables = {"syncs": tables["syncs"]}
    for name, table in tables.items():
        times = np.r_[ints(table["begin_ns"]), ints(table["end_ns"])]
        off, there = _off(made, thread, threads, times)
        if wrong := int((off & there).sum()):
            found.append(f"{wrong} edges of {name} while the driver's thread {thread} was off the CPU")
    commits = made.few["commit"]
    times = np.r_[ints(commits["begin_ns"]), ints(commits["end_ns"])]
    times = times[(times >= begin) & (times < end)]
    off, there = _off(made, thread, threads, times)
    if wrong := int((~off & there).sum()):
        found.append(f"{wrong} edges of commits while the driver's thread {thread} had the CPU")
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
