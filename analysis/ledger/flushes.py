"""Match flush commands with the bios they were sent for, by the rules of the kernel's block/blk-flush.c.

A request waits for a flush once it is inserted: with REQ_PREFLUSH at once; with REQ_FUA, on a device
without FUA, when its data is written. Only one flush is in progress at a time. When it completes, the
next one is sent for all requests that then wait; if none waits, the next request gets its own. So each
flush has at least one request.

The records have a bio's queue time, which is before its request is inserted: if more threads than queue
slots submit, it waits for a slot. The end of the wait is known: a flush for a bio completes before the
bio's data is issued, or before the call that queued it returns.
"""

import heapq
from typing import NamedTuple

import numpy as np

from analysis.ledger.match import Parts, lost_fua
from analysis.ledger.records import Columns
from base.arrays import Ints
from model.block_operations import FLUSH, OP, PREFLUSH

NEVER = np.iinfo(np.int64).max


class Flushed(NamedTuple):
    """The flush commands and the bios they were sent for, one row per pair, in command order."""

    command: Ints
    bio: Ints
    # bios that a later flush may still serve
    unsure: Ints


class _Wanted(NamedTuple):
    """The requests that wait for a flush, in the order of their bios."""

    bio: Ints
    since: Ints
    until: Ints  # NEVER: unknown


def flushed(block: Columns, bio: Columns, data: Parts, returned: Ints) -> Flushed:
    """Return the bios of each flush command. Both are ordered by begin_ns.

    data: the command that wrote each bio. returned: when the call that queued each bio returned, NEVER:
    unknown.
    """
    flush = np.flatnonzero((block["b"] & OP) == FLUSH)
    wanted = _wanted(block, bio, data, returned)
    number = flush.size
    if not number or not wanted.bio.size:
        none = np.empty(0, np.int64)
        return Flushed(none, none, none)
    issue, end = block["begin_ns"].take(flush), block["end_ns"].take(flush)
    decided = np.maximum.accumulate(block["c"].take(flush))
    earliest = np.searchsorted(issue, wanted.since)
    completed = np.minimum.accumulate(end[::-1])[::-1]
    latest = np.searchsorted(completed, wanted.until, side="right") - 1
    # inserted when queued, or at the latest in time for a flush that completed during its wait
    first = np.searchsorted(decided, wanted.since)
    first = np.where(latest >= earliest, np.minimum(first, latest), first)
    if (np.bincount(first, minlength=number)[:number] == 0).any():
        first = _each_has_one(first, earliest, latest, wanted.since, end)
    row = np.flatnonzero(first < number)
    row = row.take(np.argsort(first.take(row), kind="stable"))
    until = np.where(wanted.until < NEVER, wanted.until, np.r_[end, NEVER].take(first))
    # all earlier requests were served before this one was queued
    apart = np.flatnonzero(np.maximum.accumulate(until)[:-1] < wanted.since[1:])
    unsure = wanted.bio[apart[-1] + 1 if apart.size else 0 :]
    return Flushed(flush.take(first.take(row)), wanted.bio.take(row), unsure)


def _wanted(block: Columns, bio: Columns, data: Parts, returned: Ints) -> _Wanted:
    """Return the requests that wait for a flush, ordered by when they began to wait."""
    before = np.flatnonzero(bio["b"] & PREFLUSH)
    issued = np.full(bio.size, NEVER)
    np.minimum.at(issued, data.bio, block["begin_ns"].take(data.command))
    without = lost_fua(block, bio, data)
    after = data.bio.compress(without)
    served = np.r_[before, after]
    since = np.r_[bio["begin_ns"].take(before), block["end_ns"].take(data.command.compress(without))]
    until = np.where(bio["n"] > 0, issued, returned).take(before)
    until = np.r_[until, np.full(after.size, NEVER)]
    order = np.argsort(since, kind="stable")
    return _Wanted(served.take(order), since.take(order), until.take(order))


def _each_has_one(first: Ints, earliest: Ints, latest: Ints, since: Ints, end: Ints) -> Ints:
    """Return the flush of each request, such that each flush has at least one.

    first: the first flush that was decided after the bio was queued. A flush without a request was sent
    for the next bio if that was queued before the flush was issued, because the decision time may come
    from a plug. Otherwise it was sent for an earlier bio with a request inserted late.
    """
    number = end.size
    served_by = _take_next(first, earliest, number)
    arrivals: list[list[int]] = [[] for _ in range(number)]
    for row, flush in enumerate(served_by):
        if flush < number:
            arrivals[flush].append(row)
    # requests that must be left for the later flushes
    left = [0] * (number + 1)
    for flush in range(number - 1, 0, -1):
        left[flush - 1] = max(0, left[flush] + 1 - len(arrivals[flush]))
    waiting: list[tuple[int, int, int]] = []
    sinces, last = since.tolist(), latest.tolist()
    ended = -1
    for flush, rows in enumerate(arrivals):
        for row in rows:
            # In turn. A bio queued with no flush in progress that did not get its own came before its
            # request.
            turn = -sinces[row] if sinces[row] > ended >= 0 or flush == 0 else sinces[row]
            heapq.heappush(waiting, (last[row], turn, row))
        for _ in range(len(waiting) - left[flush]):
            served_by[heapq.heappop(waiting)[2]] = flush
        ended = int(end[flush])
    return np.array(served_by, np.int64)


def _take_next(first: Ints, earliest: Ints, number: int) -> list[int]:
    """Return the flush of each request; a flush without one takes the next request if possible."""
    served_by: list[int] = first.tolist()
    possible = earliest.tolist()
    has = np.bincount(first, minlength=number).tolist()
    order = np.argsort(first, kind="stable").tolist()
    place = 0
    for flush in range(number):
        while place < len(order) and served_by[order[place]] <= flush:
            place += 1
        if not has[flush] and place < len(order) and possible[order[place]] <= flush:
            has[served_by[order[place]]] -= 1
            served_by[order[place]] = flush
            place += 1
    return served_by
