"""Who did it: commits and who waited for them, threads, callers, results."""

from __future__ import annotations

import numpy as np
from forged import Forged
from rows import exchange, renamed

from kinds import kind, pairs, some


@kind
def waits_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring transactions exchange the commits they waited for"""
    exchange(run.records, "a", *pairs(draw, run.of("commit_wait")))


@kind
def commits_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring commits exchange their numbers"""
    exchange(run.records, "a", *pairs(draw, run.of("commit")))


@kind
def commits_and_waits_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring commits exchange their numbers, and who waited for them"""
    one, other = pairs(draw, run.of("commit"))
    waits = run.of("commit_wait")
    for a, b in zip(run.records["a"][one].tolist(), run.records["a"][other].tolist(), strict=True):
        renamed(run.records, "a", np.r_[waits, one, other], a, b)


@kind
def commits_of_other_length(run: Forged, draw: np.random.Generator) -> None:
    """commits say that they logged another number of blocks"""
    places = some(draw, run.of("commit"))
    run.records["n"][places] += np.uint32(draw.integers(1, 8))


@kind
def commits_merged(run: Forged, draw: np.random.Generator) -> None:
    """two commits are one, and the later ones are numbered anew in commits and waits"""
    commits, waits = run.of("commit"), run.of("commit_wait")
    gone = int(draw.integers(0, commits.size - 1))
    tid = int(run.records["a"][commits[gone]])
    run.records["begin_ns"][commits[gone + 1]] = run.records["begin_ns"][commits[gone]]
    run.records["n"][commits[gone + 1]] += run.records["n"][commits[gone]]
    for places in (commits, waits):
        later = places[run.records["a"][places] > tid]
        run.records["a"][later] -= 1
    run.records = np.delete(run.records, commits[gone])


@kind
def journal_thread_is_driver(run: Forged, draw: np.random.Generator) -> None:
    """bios of the journal's thread are given to the driver's, by the block tracer too"""
    tids = np.unique(run.records["tid"][run.of("commit")])
    places = run.of("bio")
    _given(run, some(draw, places[np.isin(run.records["tid"][places], tids)]), run.driver())


@kind
def driver_is_journal_thread(run: Forged, draw: np.random.Generator) -> None:
    """bios of the driver's thread are given to the journal's, by the block tracer too"""
    journal = int(run.records["tid"][run.of("commit")][0])
    places = run.of("bio")
    _given(run, some(draw, places[run.records["tid"][places] == run.driver()]), journal)


@kind
def driver_is_flusher(run: Forged, draw: np.random.Generator) -> None:
    """bios of the driver's thread are given to a flusher's, by the block tracer too"""
    flusher = int(run.records["tid"][run.of("writeback")][0])
    places = run.of("bio")
    _given(run, some(draw, places[run.records["tid"][places] == run.driver()]), flusher)


@kind
def flusher_is_driver(run: Forged, draw: np.random.Generator) -> None:
    """bios of other threads than the driver's and the journal's are given to the driver's"""
    places = run.of("bio")
    own = [run.driver(), *np.unique(run.records["tid"][run.records["type"] == 8]).tolist()]
    _given(run, some(draw, places[~np.isin(run.records["tid"][places], own)]), run.driver())


def _given(run: Forged, bios: np.ndarray, tid: int) -> None:
    """Give bios to a thread: in their records, their pages', and what the block tracer saw queued."""
    rows, pages = run.records[bios], run.of("pages")
    run.records["tid"][bios] = tid
    run.records["tid"][pages[np.isin(run.records["d"][pages], rows["d"])]] = tid
    if not run.has_trace:
        return
    traced = run.trace.records
    for time, sector in zip(rows["begin_ns"].tolist(), rows["a"].tolist(), strict=True):
        near = (traced["sector"] == sector) & (abs(traced["time"].astype(np.int64) - time) < 3000)
        traced["pid"][near] = tid


@kind
def commits_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """commits are said to be of a flusher's thread"""
    run.records["tid"][some(draw, run.of("commit"))] = run.records["tid"][run.of("writeback")][0]


@kind
def waits_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """waits for commits are said to be of another thread"""
    run.records["tid"][some(draw, run.of("commit_wait"))] = 1


@kind
def syncs_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """syncs are said to be of another thread"""
    run.records["tid"][some(draw, run.of("sync"))] = 1


@kind
def syncs_of_another_file(run: Forged, draw: np.random.Generator) -> None:
    """neighbouring syncs exchange their files"""
    exchange(run.records, "a", *pairs(draw, run.of("sync")))


@kind
def syncs_of_the_kernel(run: Forged, draw: np.random.Generator) -> None:
    """syncs are said to be called by the kernel"""
    run.records["flags"][some(draw, run.of("sync"))] &= 0xF


@kind
def syncs_failed(run: Forged, draw: np.random.Generator) -> None:
    """syncs return -EIO"""
    run.records["n"][some(draw, run.of("sync"))] = 2**32 - 5


@kind
def checkpoints_for_another_reason(run: Forged, draw: np.random.Generator) -> None:
    """checkpoints have another reason"""
    run.records["a"][some(draw, run.of("checkpoint"))] = draw.choice([1, 2, 8, 16])


@kind
def off_cpu_of_another_thread(run: Forged, draw: np.random.Generator) -> None:
    """the times off the CPU are said to be of another thread"""
    run.records["tid"][some(draw, run.of("off_cpu"))] = 1
