"""Attribute each flush command of a block trace to the processes that waited for it (blkevents.EVENT)."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from analysis.adapters.blkpairs import FLUSHES, WRITTEN_FLUSHES, Pairs
from analysis.adapters.blkrecords import ACTION, FLUSH, FUA, QUEUE

NOBODY = -1
_AT_ONCE = 1 << 14  # rows that are Python's numbers, 32 bytes each
_ASKS, _FLUSHED, _ISSUED, _DONE = range(4)


class _Flush(NamedTuple):
    """A bio that waits for a flush: since when, and who queued it."""

    since: int
    queue: int


def add(events: np.ndarray, operation: np.ndarray, owner: np.ndarray, pairs: Pairs) -> None:
    """Note of each flush command who waited for it: of those that queued a bio that asks for one and were not
    flushed yet, the last, or one with the process that issued it."""
    action, bits, time = events["action"] & ACTION, events["action"], events["time"]
    flushes = np.isin(operation[pairs.issue], (FLUSHES, WRITTEN_FLUSHES))
    if not flushes.any():
        return
    asks = np.flatnonzero((action == QUEUE) & (bits & FLUSH > 0))
    data = ~flushes & (owner[pairs.issue] != NOBODY)
    issue, done = pairs.issue[data], pairs.done[data]
    queue = owner[issue]
    flushed = bits[queue] & FLUSH > 0  # the flush was before
    later = (bits[queue] & FUA > 0) & (bits[issue] & FUA == 0) & (done >= 0)  # another comes behind it
    commands, ends = pairs.issue[flushes], pairs.done[flushes]
    over = ends >= 0
    steps = [
        (time[at], np.full(at.size, order), np.full(at.size, what), bios)
        for at, bios, order, what in (
            (asks, asks, 1, _ASKS),
            (issue[flushed], queue[flushed], 0, _FLUSHED),
            (done[later], queue[later], 1, _ASKS),
            (commands, commands, 2, _ISSUED),
            (ends[over], commands[over], 0, _DONE),
        )
    ]
    times, orders, whats, rows = (np.concatenate(column) for column in zip(*steps, strict=True))
    sequence = np.lexsort((rows, whats, orders, times))
    columns = [column[sequence] for column in (times, whats, rows, events["device"][rows])]
    pieces = (
        [column[begin : begin + _AT_ONCE].tolist() for column in columns]
        for begin in range(0, sequence.size, _AT_ONCE)
    )
    pids = events["pid"]
    waiting: dict[int, list[_Flush]] = {}
    for now, what, row, device in itertools.chain.from_iterable(zip(*piece, strict=True) for piece in pieces):
        there = waiting.setdefault(device, [])
        if what == _ASKS:
            there.append(_Flush(now, row))
        elif what == _FLUSHED:
            waiting[device] = [bio for bio in there if bio.queue != row]
        elif what == _DONE:
            begun = int(time[row])
            waiting[device] = [bio for bio in there if bio.since > begun]
        elif there:
            own = [bio for bio in there if pids[bio.queue] == pids[row]] if len(there) > 1 else there
            chosen = (own or there)[-1]
            there.remove(chosen)
            owner[row] = chosen.queue
