"""Find for each flush command of a block trace the queued bio that requested it, and so its process."""

import itertools
from typing import NamedTuple

import numpy as np

from analysis.adapters.blkpairs import FLUSHES, WRITTEN_FLUSHES, Pairs
from analysis.adapters.blkrecords import ACTION, FLUSH, FUA, QUEUE

NOBODY = -1
_AT_ONCE = 1 << 14  # rows as Python's numbers, 32 bytes each
_REQUESTED, _FLUSHED, _ISSUED, _DONE = range(4)


class _Flush(NamedTuple):
    """A bio that waits for a flush: the time since when, and the row of its queue event."""

    since: int
    queue: int


def add(events: np.ndarray, operation: np.ndarray, owner: np.ndarray, pairs: Pairs) -> None:
    """Set the owner of each flush command: the last queued of the bios that request a flush and still wait.

    Of several, a bio of the process that issued the command comes first.
    """
    action, bits, time = events["action"] & ACTION, events["action"], events["time"]
    flushes = np.isin(operation[pairs.issue], (FLUSHES, WRITTEN_FLUSHES))
    if not flushes.any():
        return
    requests = np.flatnonzero((action == QUEUE) & (bits & FLUSH > 0))
    data = ~flushes & (owner[pairs.issue] != NOBODY)
    issue, done = pairs.issue[data], pairs.done[data]
    queue = owner[issue]
    flushed = bits[queue] & FLUSH > 0  # the flush was before
    later = (bits[queue] & FUA > 0) & (bits[issue] & FUA == 0) & (done >= 0)  # a flush follows the write
    commands, ends = pairs.issue[flushes], pairs.done[flushes]
    over = ends >= 0
    steps = [
        (time[at], np.full(at.size, order), np.full(at.size, kind), rows)
        for at, rows, order, kind in (
            (requests, requests, 1, _REQUESTED),
            (issue[flushed], queue[flushed], 0, _FLUSHED),
            (done[later], queue[later], 1, _REQUESTED),
            (commands, commands, 2, _ISSUED),
            (ends[over], commands[over], 0, _DONE),
        )
    ]
    times, orders, kinds, rows = (np.concatenate(column) for column in zip(*steps, strict=True))
    sequence = np.lexsort((rows, kinds, orders, times))
    columns = [column[sequence] for column in (times, kinds, rows, events["device"][rows])]
    pieces = (
        [column[begin : begin + _AT_ONCE].tolist() for column in columns]
        for begin in range(0, sequence.size, _AT_ONCE)
    )
    pids = events["pid"]
    waiting: dict[int, list[_Flush]] = {}
    for now, kind, row, device in itertools.chain.from_iterable(zip(*piece, strict=True) for piece in pieces):
        bios = waiting.setdefault(device, [])
        if kind == _REQUESTED:
            bios.append(_Flush(now, row))
        elif kind == _FLUSHED:
            waiting[device] = [bio for bio in bios if bio.queue != row]
        elif kind == _DONE:
            begun = int(time[row])
            waiting[device] = [bio for bio in bios if bio.since > begun]
        elif bios:
            same = [bio for bio in bios if pids[bio.queue] == pids[row]] if len(bios) > 1 else bios
            chosen = (same or bios)[-1]
            bios.remove(chosen)
            owner[row] = chosen.queue
