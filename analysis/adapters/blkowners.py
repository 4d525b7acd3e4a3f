"""Who queued each block command, from the events before its issue (blkevents.EVENT, by time).

A bio waits from when it is queued (Q), in one piece or in those that it is split into (X), until commands
that have all of its sectors were issued (D); merges (M, F) make one piece of two. What is issued uses up
what it has. A command is of who queued its first sector, of those that waited the last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.adapters.blkopen import Open, Range
from analysis.adapters.blkpairs import (
    DISCARDS,
    FLUSHES,
    READS,
    WRITES,
    WRITTEN_FLUSHES,
    Pairs,
    alternating,
    operations,
    targets,
)
from analysis.adapters.blkrecords import (
    ACTION,
    BACK_MERGE,
    COMPLETE,
    FLUSH,
    FRONT_MERGE,
    FUA,
    ISSUE,
    QUEUE,
    REQUEUE,
    SPLIT,
)

_WITH_DATA = (READS, WRITES, DISCARDS)
NOBODY = -1
_ASKS, _FLUSHED, _ISSUED, _DONE = range(4)


class _Flush(NamedTuple):
    """A bio that waits for a flush: since when, and who queued it."""

    since: int
    queue: int


def queued(events: np.ndarray, pairs: Pairs, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row of the Q of each command of `pairs`, and of each of its orphans, NOBODY where none is.

    whole: the rows of bios for devices without requests, which are commands themselves.
    """
    owner = np.full(len(events), NOBODY)
    action, operation = events["action"] & ACTION, operations(events)
    of_data = np.isin(operation, _WITH_DATA) & (events["bytes"] > 0)
    is_bio = (action == QUEUE) & of_data
    is_bio[whole] = False
    is_orphan = np.zeros(len(events), bool)
    is_orphan[pairs.orphans] = True
    used = np.isin(action, (BACK_MERGE, FRONT_MERGE, REQUEUE, ISSUE)) & of_data
    used |= (action == SPLIT) | (is_orphan & of_data)
    rows = np.flatnonzero(is_bio | used)
    # a split has no size in blkparse's text
    target, sector, size = (
        targets(events)[rows], events["sector"][rows].astype(np.int64), events["bytes"][rows].astype(np.int64)
    )  # fmt: skip
    kind = action[rows]
    first, second, rest = alternating(kind == QUEUE, kind == ISSUE, target, sector, size)
    owner[rows[second]] = rows[first]
    waiting = _Waiting(owner)
    waiting.run(rows[rest], kind[rest], target[rest], sector[rest], size[rest], events["other"][rows[rest]])
    waiting.exchange()
    _flushes(events, operation, owner, pairs)
    return owner[pairs.issue], owner[pairs.orphans]


class _Waiting:
    """The pieces of bios that wait, and of which bio each issue is."""

    def __init__(self, owner: np.ndarray) -> None:
        self.open = Open()
        self.owner = owner
        self.bios: dict[int, list[int]] = {}  # {issue: the bios of the pieces it used}
        self.issued: dict[tuple[int, int, int], int] = {}  # {range: its last issue}
        self.whole: dict[tuple[int, int, int], list[int]] = {}  # {range: issues that used just one piece}

    def run(self, rows: np.ndarray, *columns: np.ndarray) -> None:
        """Take events in the order of time: their rows, actions, targets, sectors, bytes, and where they
        split."""
        for row, action, target, sector, size, other in zip(
            rows.tolist(), *(column.tolist() for column in columns), strict=True
        ):
            end = sector + (size >> 9)
            if action == QUEUE:
                self.open.add(target, Range(row, sector, end))
            elif action == ISSUE:
                self._issue(row, target, sector, end)
            elif action == SPLIT:
                piece = self.open.around(target, sector, other + 1) if other > sector else None
                if piece is not None:
                    self._use(target, piece, other, other)
            elif action == REQUEUE:
                self._put_back(target, sector, end)
            elif action == COMPLETE:
                if (piece := self.open.latest(target, sector, end)) is not None:
                    self.open.remove(target, piece)
                    self.owner[row] = piece.row
            else:
                self._merge(target, sector, end, back=action == BACK_MERGE)

    def _use(self, target: int, piece: Range, start: int, end: int) -> None:
        """Take start to end out of a piece."""
        if piece.open:
            self.open.remove(target, piece)
        if piece.start < start:
            self.open.add(target, Range(piece.row, piece.start, start))
        if end < piece.end:
            self.open.add(target, Range(piece.row, end, piece.end))

    def _issue(self, row: int, target: int, sector: int, end: int) -> None:
        self.issued[target, sector, end] = row
        if (piece := self.open.latest(target, sector, end)) is not None:
            self.open.remove(target, piece)
            self.owner[row] = piece.row
            self.whole.setdefault((target, sector, end), []).append(row)
            return
        at = sector
        while at < end:
            piece = self.open.around(target, at, at + 1)
            if piece is None:
                break
            if self.owner[row] == NOBODY:
                self.owner[row] = piece.row
            self._use(target, piece, at, min(end, piece.end))
            at = min(end, piece.end)

    def _put_back(self, target: int, sector: int, end: int) -> None:
        issue = self.issued.get((target, sector, end))
        if issue is not None and self.owner[issue] != NOBODY:
            self.open.add(target, Range(int(self.owner[issue]), sector, end))
            self.whole.pop((target, sector, end), None)

    def _merge(self, target: int, sector: int, end: int, *, back: bool) -> None:
        piece = self.open.latest(target, sector, end)
        if piece is not None:
            self.open.remove(target, piece)
        before = self.open.ending(target, sector) if back else self.open.starting(target, end)
        if before is None:
            if piece is not None:
                self.open.add(target, piece)
            return
        self.open.remove(target, before)
        if back:
            self.open.add(target, Range(before.row, before.start, end))
        else:
            self.open.add(target, Range(before.row if piece is None else piece.row, sector, before.end))

    def exchange(self) -> None:
        """Give the issues of a range their bios in the order of both."""
        for issues in self.whole.values():
            if len(issues) > 1:
                for issue, bio in zip(sorted(issues), sorted(self.owner[issues].tolist()), strict=True):
                    self.owner[issue] = bio


def _flushes(events: np.ndarray, operation: np.ndarray, owner: np.ndarray, pairs: Pairs) -> None:
    """Note of each flush command who waited for it: of those that queued a bio that asks for one and were not
    flushed yet, the last, or one with the process that issued it."""
    action, bits, time = events["action"] & ACTION, events["action"], events["time"]
    flushes = np.isin(operation[pairs.issue], (FLUSHES, WRITTEN_FLUSHES))
    if not flushes.any():
        return
    steps: list[tuple[int, int, int, int]] = []  # time, order, what, row
    asks = np.flatnonzero((action == QUEUE) & (bits & FLUSH > 0))
    data = ~flushes & (owner[pairs.issue] != NOBODY)
    issue, done = pairs.issue[data], pairs.done[data]
    queue = owner[issue]
    flushed = bits[queue] & FLUSH > 0  # the flush was before
    later = (bits[queue] & FUA > 0) & (bits[issue] & FUA == 0) & (done >= 0)  # another comes behind it
    for at, bios, order, what in (
        (asks, asks, 1, _ASKS),
        (issue[flushed], queue[flushed], 0, _FLUSHED),
        (done[later], queue[later], 1, _ASKS),
    ):
        steps += [(now, order, what, bio) for now, bio in zip(time[at].tolist(), bios.tolist(), strict=True)]
    for issue, done in zip(pairs.issue[flushes].tolist(), pairs.done[flushes].tolist(), strict=True):
        steps.append((int(time[issue]), 2, _ISSUED, issue))
        if done >= 0:
            steps.append((int(time[done]), 0, _DONE, issue))
    steps.sort()
    devices, pids = events["device"], events["pid"]
    waiting: dict[int, list[_Flush]] = {}
    for now, _, what, row in steps:
        device = int(devices[row])
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
