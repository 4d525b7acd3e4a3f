"""Was the driver's thread off the CPU when it waited, and did it wait for what is recorded?

The virtual board has one CPU. What the thread does before it sleeps and after it is woken takes instructions.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.checks.calls import first
from analysis.checks.processor import WAITS, spans
from analysis.ledger.arrays import Intervals, Ints, at, inside, ints, length_within, union
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import driver_tids, edges

_AWAKE_NS = 100_000  # at most 23 µs on clean runs
# While data is written: 50 to 190 µs, for a checkpoint of 250 pages 280 µs. The CPU copies them for null_blk.
_WRITING_NS, _BLOCK_NS, _BLOCK = 200_000, 10_000, 4096
# of a call, beside its syncs: at most 40 µs on clean runs
_CALLED_NS = 100_000
# Another thread may have had the CPU, seldom.
_SELDOM_NS, _SELDOM = 1_000_000, 0.01


def asleep(made: Ledger) -> list[str]:
    """While a sync waits for a flush, or for a commit of the journal, its thread is off the CPU.

    But for what it does before it sleeps and after it is woken (_AWAKE_NS).
    """
    begin, end = made.given.window
    found = []
    for thread in driver_tids(made.few).tolist():
        off = union([Intervals(*spans(made.few["off_cpu"], thread))])
        synced = made.syncs.filter(pl.col("tid") == thread)
        for what, (begins, ends) in {
            "flushes": _flushes(made, edges(synced)),
            "waits for a commit": spans(made.few["commit_wait"], thread),
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
    others += [Intervals(*spans(few[name])) for name in ("checkpoint", "flush")]
    for thread in driver_tids(few).tolist():
        known = union([*others, *(Intervals(*spans(few[name], thread)) for name in WAITS)])
        away = union([Intervals(*spans(few["off_cpu"], thread)), known])
        begins, ends = edges(made.syncs.filter(pl.col("tid") == thread))
        unknown = length_within(away, begins, ends) - length_within(known, begins, ends)
        if wrong := int((unknown > _AWAKE_NS * made.given.slower).sum()):
            found.append(f"{wrong} syncs of the thread {thread} waited for nothing that is recorded")
    return found


def for_data(made: Ledger) -> list[str]:
    """While its data is written, from the issue of the last command to the completion of the last, a thread
    that waits for data is off the CPU; but for the copying, and _WRITING_NS."""
    begin, end = made.given.window
    slower, found = made.given.slower, []
    for thread in driver_tids(made.few).tolist():
        begins, ends = spans(made.few["data_wait"], thread)
        kept = (begins >= begin) & (ends <= end)
        begins, ends = begins[kept], ends[kept]
        writes = made.ledger.filter(
            (pl.col("tid") == thread) & (pl.col("bytes") > 0) & (pl.col("kind") != "read")
        )
        wait = inside(ints(writes["queue_ns"].fill_null(-1)), begins, ends)
        each = writes.select("issue_ns", "complete_ns", "bytes", wait=pl.Series(wait)).filter(
            pl.col("wait") >= 0
        )
        last = each.group_by("wait").agg(pl.col("issue_ns", "complete_ns").max(), pl.col("bytes").sum())
        since = ints(last["issue_ns"])
        done = np.maximum(np.minimum(ints(last["complete_ns"]), at(ends, ints(last["wait"]))), since)
        off = union([Intervals(*spans(made.few["off_cpu"], thread))])
        awake = (
            done
            - since
            - length_within(off, since, done)
            - slower * _BLOCK_NS * (ints(last["bytes"]) // _BLOCK)
        )
        if wrong := _too_long(awake, _WRITING_NS * slower, _SELDOM_NS * slower):
            found.append(f"{wrong} waits for data in which the thread {thread} that waited had the CPU")
    return found


def _too_long(times: Ints, limit: int, seldom: int) -> int:
    """Return how many times are over the limit; over the other one, if few are."""
    over = int((times > limit).sum())
    return over if over > max(1, _SELDOM * times.size) else int((times > seldom).sum())


def in_calls(made: Ledger) -> list[str]:
    """A call of SQLite that syncs a file is over when the filesystem has: beside its syncs it takes
    _CALLED_NS."""
    synced = made.syncs.group_by("vfs_call").agg(
        (pl.col("end_ns") - pl.col("begin_ns")).sum().alias("synced")
    )
    calls = made.vfs.filter(pl.col("op") == "sync").join(synced, left_on="call", right_on="vfs_call")
    rest = calls.with_columns(rest=pl.col("end_ns") - pl.col("begin_ns") - pl.col("synced"))
    slower = made.given.slower
    if not _too_long(ints(rest["rest"]), _CALLED_NS * slower, _SELDOM_NS * slower):
        return []
    return first(
        rest.filter(pl.col("rest") > _CALLED_NS * slower), "calls go on after their syncs", "call", "rest"
    )
