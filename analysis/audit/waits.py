"""Check that threads are off the CPU while they sync, and that a recorded wait explains that time.

The virtual board has one CPU. A thread uses it shortly before it sleeps and after it is woken.
"""

import numpy as np
import polars as pl

from analysis.adapters.proberecords import taken
from analysis.checks import virtual_board
from analysis.checks.file_calls import fault
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import driver_tids, edges
from analysis.run import Run
from base.arrays import Intervals, Ints, at, inside, ints, length_within, union

_AWAKE_NS = 100_000  # at most 23 µs in clean runs
# While data is written: 50 to 190 µs; 280 µs for 250 pages. The CPU may copy them for the device.
_WRITING_NS, _BLOCK_NS, _BLOCK = 200_000, 10_000, 4096
# of a call without its syncs: at most 40 µs in clean runs
_CALLED_NS = 100_000
# Share of waits that may take longer, at least one: another thread had the CPU, for at most a scheduler tick
# (4 ms).
_SELDOM, _TICK_NS = 0.01, 5_000_000
WAITS = ("commit_wait", "data_wait", "node_wait")
_WRITES = {"data_wait": "data", "node_wait": "nodes"}
# other waits that a wait for data includes
_OTHERS = ("commit_wait", "node_wait")


def spans(rows: np.ndarray, thread: int | None = None) -> Intervals:
    """Return the intervals of records, of one thread if it is given; they may overlap."""
    if thread is not None:
        rows = taken(rows, ints(rows["tid"]) == thread)
    return Intervals(ints(rows["begin_ns"]), ints(rows["end_ns"]))


def asleep(made: Ledger) -> list[str]:
    """Check that a thread is off the CPU while its sync waits for a flush or a journal commit.

    It may use _AWAKE_NS before it sleeps and after it is woken.
    """
    begin, end = made.given.window
    faults = []
    for thread in driver_tids(made.few).tolist():
        off = union([spans(made.few["off_cpu"], thread)])
        synced = made.syncs.filter(pl.col("tid") == thread)
        for waited, (begins, ends) in {
            "flushes": _flushes(made, edges(synced)),
            "waits for a commit": spans(made.few["commit_wait"], thread),
        }.items():
            awake = ends - begins - length_within(off, begins, ends)
            awake = awake[(begins >= begin) & (ends <= end)]
            if wrong := _too_long(awake, _AWAKE_NS, made.given.slower):
                faults.append(f"{wrong} {waited} in which the waiting thread {thread} had the CPU")
    return faults


def _flushes(made: Ledger, syncs: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the begins and ends of the flush commands that lie within the syncs of a thread."""
    flushes = made.ledger.filter(pl.col("kind") == "flush")
    begins, ends = ints(flushes["issue_ns"]), ints(flushes["complete_ns"])
    row = inside(begins, *syncs)
    waited = (row >= 0) & (ends <= at(syncs[1], row))
    return begins[waited], ends[waited]


def explained(made: Ledger) -> list[str]:
    """Check that a recorded event explains the time off the CPU within a sync, except for _AWAKE_NS.

    The thread waited for data, a commit or node pages; or a checkpoint, a flush, a read, or without a journal
    a write of the filesystem's blocks was in progress.
    """
    few, faults = made.few, []
    commands = made.ledger.filter(pl.col("kind").is_in(["flush", "read"]))
    others = [Intervals(ints(commands["issue_ns"]), ints(commands["complete_ns"]))]
    others += [*(spans(few[name]) for name in ("checkpoint", "flush")), _in_place(made)]
    for thread in driver_tids(few).tolist():
        recorded = union([*others, *(spans(few[name], thread) for name in WAITS)])
        away = union([spans(few["off_cpu"], thread), recorded])
        begins, ends = _within(made, *edges(made.syncs.filter(pl.col("tid") == thread)))
        unknown = length_within(away, begins, ends) - length_within(recorded, begins, ends)
        if wrong := _too_long(unknown, _AWAKE_NS, made.given.slower):
            faults.append(f"{wrong} syncs of the thread {thread} waited for unrecorded events")
    return faults


def _in_place(made: Ledger) -> Intervals:
    """Return when metadata blocks of a filesystem without a journal were queued or in the device.

    A sync writes its file's blocks in place, or waits for another thread that does.
    """
    home = made.pieces.filter(pl.col("home").is_not_null())["command"].unique().implode()
    own = made.ledger.filter(pl.col("command").is_in(home) & made.given.layout.in_place)
    return Intervals(ints(own["queue_ns"]), ints(own["complete_ns"]))


def for_writes(made: Ledger) -> list[str]:
    """Check the waits for data and for nodes, except for _WRITING_NS and the copying of completed blocks.

    The thread is off the CPU from the issue of its last command until all are completed. Meanwhile a wait for
    data has data queued or in the device, or another recorded event.
    """
    few, faults, slower = made.few, [], made.given.slower
    for thread in driver_tids(few).tolist():
        off = union([spans(few["off_cpu"], thread)])
        own = made.ledger.filter(
            (pl.col("tid") == thread) & (pl.col("bytes") > 0) & (pl.col("kind") != "read")
        )
        own = own.sort("issue_ns")
        issue, complete = ints(own["issue_ns"]), np.maximum.accumulate(ints(own["complete_ns"]))
        copied = np.r_[0, np.cumsum(ints(own["bytes"]) // _BLOCK)] * _BLOCK_NS
        recorded = union([*_in_flight(made, own), *(spans(few[name], thread) for name in _OTHERS)])
        both = union([off, recorded])
        for name, noun in _WRITES.items():
            begins, ends = _within(made, *spans(few[name], thread))
            before = np.searchsorted(issue, ends)
            since = np.maximum(at(issue, before - 1), begins)
            done = np.maximum(np.minimum(at(complete, before - 1), ends), since)
            copying = (copied[before] - copied[np.searchsorted(complete, begins)]) * slower
            awake = done - since - length_within(off, since, done) - copying
            idle = length_within(both, begins, ends) - length_within(recorded, begins, ends) - copying
            if wrong := _too_long(awake, _WRITING_NS, slower):
                faults.append(f"{wrong} waits for {noun} in which the waiting thread {thread} had the CPU")
            if name == "data_wait" and (wrong := _too_long(idle, _WRITING_NS, slower)):
                faults.append(f"{wrong} waits for {noun} in which the thread {thread} waited for nothing")
    return faults


def _within(made: Ledger, begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the intervals that lie within the window."""
    kept = (begins >= made.given.window[0]) & (ends <= made.given.window[1])
    return begins[kept], ends[kept]


def _in_flight(made: Ledger, own: pl.DataFrame) -> list[Intervals]:
    """Return the intervals that a wait for data may cover.

    A command of the thread, a command with file pages or a read is queued or in the device; or a checkpoint,
    a flush of several syncs, or a commit without a waiting thread is in progress. A commit locks its blocks.
    """
    of_file = pl.col("file").is_not_null() & pl.col("of").is_null()
    files = made.pieces.filter(of_file)["command"].unique().implode()
    others = made.ledger.filter(pl.col("command").is_in(files) | (pl.col("kind") == "read"))
    commits = made.few["commit"]
    commands = pl.concat([own, others]).select(
        pl.col("queue_ns").fill_null(pl.col("issue_ns")), "complete_ns"
    )
    return [
        Intervals(ints(commands["queue_ns"]), ints(commands["complete_ns"])),
        *(spans(made.few[name]) for name in ("checkpoint", "flush")),
        spans(taken(commits, ~np.isin(commits["a"], made.few["commit_wait"]["a"]))),
    ]


def _too_long(times: Ints, limit_ns: int, slower: int) -> int:
    """Return how many times are over the limit, 0 if as many may be."""
    over = int((times > limit_ns * slower).sum())
    is_few = over <= max(1, _SELDOM * times.size) and not (times > (limit_ns + _TICK_NS) * slower).any()
    return 0 if is_few else over


def in_calls(made: Ledger) -> list[str]:
    """Check that an xSync takes at most _CALLED_NS more than its filesystem syncs.

    Not checked with several threads: the caller is unknown.
    """
    if driver_tids(made.few).size > 1:
        return []
    lasted = pl.col("end_ns") - pl.col("begin_ns")
    synced = made.syncs.group_by("vfs_call").agg(synced=lasted.sum())
    calls = made.vfs.filter(pl.col("op") == "sync").join(synced, left_on="call", right_on="vfs_call")
    calls = calls.with_columns(rest=lasted - pl.col("synced"))
    if not _too_long(ints(calls["rest"]), _CALLED_NS, made.given.slower):
        return []
    late = calls.filter(pl.col("rest") > _CALLED_NS * made.given.slower)
    return fault(late, "calls continue after their syncs", "call", "rest")


def _waits_of(run: Run) -> list[str]:
    """Return the faults of the waits of a run on one CPU that counts instructions."""
    made = run.ledger
    one_cpu = run.is_virtual or virtual_board.cpus(run) == 1
    if made is None or not one_cpu or not made.given.counted:
        return []
    return [f"ledger: {text}" for check in (asleep, explained, for_writes, in_calls) for text in check(made)]


RUN_CHECKS = (_waits_of,)
