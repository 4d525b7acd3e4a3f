"""Attribute each command and flush of a block trace to the process that queued its bio (Q event).

A bio waits from its queue event (Q) until commands that cover all of its sectors are issued (D). A split (X)
makes two pieces of it, a merge (M, F) one of two. An issue uses up the sectors that it covers. A command
belongs to the bio that holds its first sector; of several such bios, to the one queued last. A flush command
belongs to the bio that requested it.
"""

import itertools
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

NOBODY = -1
_AT_ONCE = 1 << 14  # rows as Python's numbers, 32 bytes each
_REQUESTED, _FLUSHED, _ISSUED, _DONE = range(4)


class _Flush(NamedTuple):
    """A bio that waits for a flush: the time since when, and the row of its queue event."""

    since: int
    queue: int


def _add_flushes(events: np.ndarray, operation: np.ndarray, owner: np.ndarray, pairs: Pairs) -> None:
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


_WITH_DATA = (READS, WRITES, DISCARDS)


def queued(events: np.ndarray, pairs: Pairs, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row of the Q of each command of `pairs`, and of each of its orphans; NOBODY without one.

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
        targets(events, rows), events["sector"][rows].astype(np.int64), events["bytes"][rows].astype(np.int64)
    )  # fmt: skip
    kind = action[rows]
    kept, size = merged(kind, target, sector, size)
    rows, kind, target, sector, size = (column[kept] for column in (rows, kind, target, sector, size))
    first, second, rest = alternating(kind == QUEUE, kind == ISSUE, target, sector, size)
    owner[rows[second]] = rows[first]
    waiting = _Waiting(owner)
    waiting.run(rows[rest], kind[rest], target[rest], sector[rest], size[rest], events["other"][rows[rest]])
    waiting.exchange()
    _add_flushes(events, operation, owner, pairs)
    return owner[pairs.issue], owner[pairs.orphans]


def merged(
    kind: np.ndarray, target: np.ndarray, sector: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (remaining rows, sizes) after each bio that was merged as it was queued is joined to its target.

    Joined are a Q and, with no event of their target between, the Q and the M of the bio that follows it, any
    number of times. The bio queued last is the one merged, so other waiting bios do not matter.
    """
    order = np.argsort(target, kind="stable")
    kind, target, sector = kind[order], target[order], sector[order]
    end = sector + (size[order] >> 9)
    at = np.flatnonzero((kind[1:-1] == QUEUE) & (kind[2:] == BACK_MERGE)) + 1
    at = at[(target[at - 1] == target[at + 1]) & (sector[at] == sector[at + 1]) & (end[at] == end[at + 1])]
    at = at[end[at - 1] == sector[at]]
    behind = np.isin(at - 2, at) & (kind[at - 1] == BACK_MERGE)  # directly after another merge
    place = np.maximum.accumulate(np.where(behind, 0, np.arange(at.size)))
    whole = kind[at[place] - 1] == QUEUE
    at, begin = at[whole], at[place[whole]] - 1
    sizes, left = size.copy(), np.ones(kind.size, bool)
    # in order, so the last assignment stays, of the furthest end
    sizes[order[begin]] = (end[at] - sector[begin]) << 9
    left[order[at]] = left[order[at + 1]] = False
    return np.flatnonzero(left), sizes


class _Waiting:
    """The waiting pieces of bios, and the bio of each issue."""

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
        """Assign the bios of a range to its issues in the order of both."""
        for issues in self.whole.values():
            if len(issues) > 1:
                for issue, bio in zip(sorted(issues), sorted(self.owner[issues].tolist()), strict=True):
                    self.owner[issue] = bio
