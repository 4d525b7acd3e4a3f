"""Attribute each block command to the process that queued it (blkevents.EVENT, sorted by time).

A bio waits from its queue event (Q) until commands that cover all of its sectors are issued (D). A split (X)
makes two pieces of it, a merge (M, F) one of two. An issue uses up the sectors that it covers. A command
belongs to the bio that holds its first sector; of several such bios, to the one queued last.
"""

import numpy as np

from analysis.adapters import blkflushes
from analysis.adapters.blkflushes import NOBODY
from analysis.adapters.blkopen import Open, Range
from analysis.adapters.blkpairs import DISCARDS, READS, WRITES, Pairs, alternating, operations, targets
from analysis.adapters.blkrecords import (
    ACTION,
    BACK_MERGE,
    COMPLETE,
    FRONT_MERGE,
    ISSUE,
    QUEUE,
    REQUEUE,
    SPLIT,
)

_WITH_DATA = (READS, WRITES, DISCARDS)


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
    blkflushes.add(events, operation, owner, pairs)
    return owner[pairs.issue], owner[pairs.orphans]


def merged(
    kind: np.ndarray, target: np.ndarray, sector: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows that are left, sizes) once bios that are merged as they come are one with the bio before.

    That is a Q and, with no event of their target between, the Q and the M of what is behind it, any number
    of times: what was queued last is what is merged, so it does not matter what else waits.
    """
    order = np.argsort(target, kind="stable")
    kind, target, sector = kind[order], target[order], sector[order]
    end = sector + (size[order] >> 9)
    at = np.flatnonzero((kind[1:-1] == QUEUE) & (kind[2:] == BACK_MERGE)) + 1
    at = at[(target[at - 1] == target[at + 1]) & (sector[at] == sector[at + 1]) & (end[at] == end[at + 1])]
    at = at[end[at - 1] == sector[at]]
    behind = np.isin(at - 2, at) & (kind[at - 1] == BACK_MERGE)  # of what is merged already
    place = np.maximum.accumulate(np.where(behind, 0, np.arange(at.size)))
    whole = kind[at[place] - 1] == QUEUE
    at, begin = at[whole], at[place[whole]] - 1
    sizes, left = size.copy(), np.ones(kind.size, bool)
    # in order, so the last end of each is what is left
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
