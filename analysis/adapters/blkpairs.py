"""Pair issue (D) and completion (C) events of a block trace into commands, by device, operation and sectors.

A command is open from its issue (D) until all of it was completed (C), or until it is put back (R). Open
commands are known by device, operation and their remaining sectors, so a completion ends a command
only if it fits into it. Where the events of one range alternate, which is nearly everywhere, they are paired
at once; all others go through the state machine one by one.

If two commands of one range are open at once, the later is ended first, as the earlier may have lost its
completion. Where both are ended, they are exchanged, so that the first issued is the first done.
"""

from typing import NamedTuple

import numpy as np

from analysis.adapters.blkevents import ERROR_UNKNOWN
from analysis.adapters.blkopen import Open, Range
from analysis.adapters.blkrecords import ACTION, COMPLETE, DISCARD, FLUSH, ISSUE, PASSTHROUGH, REQUEUE, WRITE

READS, WRITES, DISCARDS, FLUSHES, WRITTEN_FLUSHES, NOTHING, PASSED = range(7)
_PLACELESS = (FLUSHES, WRITTEN_FLUSHES, PASSED)
_NONE = -1
_FACTOR = 0x9E3779B97F4A7C15  # odd: it mixes the bits of a key


class Pairs(NamedTuple):
    """Rows of events, each array in the order of time."""

    issue: np.ndarray  # of each command: its issue
    done: np.ndarray  # its last completion, -1: there is none
    error: np.ndarray  # its first error, 0: none, ERROR_UNKNOWN: not known
    bytes: np.ndarray  # how much was issued, or done before the rest of it was put back
    orphans: np.ndarray  # completions of no command
    returned: np.ndarray  # requeues of no command


def operations(events: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Return the operation of each of the rows: READS, … (int8).

    A flush has no data: REQ_OP_FLUSH, or an empty write with PREFLUSH, as kernels before 4.10 issue it. SCSI
    and ATA passthrough is an operation of its own.
    """
    action, empty = events["action"][rows], events["bytes"][rows] == 0
    write, flush, discard = action & WRITE > 0, action & FLUSH > 0, action & DISCARD > 0
    empty &= ~discard
    operation = np.full(action.size, READS, np.int8)
    operation[write] = WRITES
    operation[discard] = DISCARDS
    operation[empty & ~write] = NOTHING
    operation[empty & flush & ~write] = FLUSHES
    operation[empty & flush & write] = WRITTEN_FLUSHES
    operation[action & PASSTHROUGH > 0] = PASSED
    return operation


def targets(events: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return device and operation of each of the rows as one number (int64)."""
    return np.asarray(events["device"][rows].astype(np.int64) << 3 | operations(events, rows))


def pair(events: np.ndarray, *, parts: bool = True) -> Pairs:
    """Pair issues with completions.

    parts: a request is completed from its begin on, so the completion of its end is its last; a bio that
    was split (parts=False) is done when as much was completed as it has.
    """
    action = events["action"] & ACTION
    rows = np.flatnonzero(np.isin(action, (ISSUE, REQUEUE, COMPLETE)))
    action, target = action[rows], targets(events, rows)
    sector, size = events["sector"][rows].astype(np.int64), events["bytes"][rows].astype(np.int64)
    placeless = np.isin(target & 7, _PLACELESS)
    # a flush may have all bits set; the completion of passthrough has no length
    sector[placeless] = size[placeless] = 0
    # an empty bio has a completion of its own, which belongs to no command
    issued_empty = np.unique(target[(action == ISSUE) & (size == 0)])
    is_answer = (action == COMPLETE) & (size == 0) & ~np.isin(target, issued_empty)
    is_answer &= ~np.isin(target & 7, (FLUSHES, PASSED))
    rows, action, target, sector, size = (
        column[~is_answer] for column in (rows, action, target, sector, size)
    )
    firsts, seconds, rest = alternating(action == ISSUE, action == COMPLETE, target, sector, size)
    machine = _Machine(parts=parts)
    machine.run(rest, action[rest], target[rest], sector[rest], size[rest], events["error"][rows[rest]])
    machine.exchange()
    issue = np.concatenate([firsts, np.array(list(machine.ends), np.int64)])
    ends = np.array(list(machine.ends.values()), np.int64).reshape(-1, 3)
    done = np.concatenate([seconds, ends[:, 0]])
    error = np.concatenate([events["error"][rows[seconds]].astype(np.int64), ends[:, 1]])
    amount = np.concatenate([size[firsts], ends[:, 2]])
    order = np.argsort(issue)
    issue, done, amount = issue[order], done[order], amount[order]
    passed = target[issue] & 7 == PASSED
    amount[passed] = events["bytes"][rows[issue[passed]]]
    return Pairs(
        issue=rows[issue],
        done=np.where(done >= 0, rows[done] if rows.size else done, _NONE),
        error=error[order],
        bytes=amount,
        orphans=rows[np.array(machine.orphans, np.int64)],
        returned=rows[np.array(machine.returned, np.int64)],
    )


def alternating(
    is_first: np.ndarray, is_second: np.ndarray, target: np.ndarray, sector: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (firsts, seconds, all other rows) of the ranges on which first and second take turns.

    They begin with a first, end with a second, and no other row has one of their sectors.
    """
    none = np.empty(0, np.int64)
    if not target.size:
        return none, none, none
    mixed = [sector, size, target]
    key = np.zeros(target.size, np.uint64)
    for column in mixed:
        key = (key ^ column.astype(np.uint64)) * np.uint64(_FACTOR)
        key ^= key >> np.uint64(29)
    order = np.argsort(key, kind="stable")
    same = np.r_[False, key[order][1:] == key[order][:-1]]
    begins = np.flatnonzero(~same)
    place = np.arange(order.size) - np.repeat(begins, np.diff(np.r_[begins, order.size]))
    right = np.where(place & 1, is_second[order], is_first[order])
    # two ranges may have one key by chance
    for column in mixed:
        sorted_column = column[order]
        right[1:] &= ~same[1:] | (sorted_column[1:] == sorted_column[:-1])
    lengths = np.diff(np.r_[begins, order.size])
    regular = np.logical_and.reduceat(right, begins) & (lengths & 1 == 0)
    each = np.repeat(regular, lengths)
    first, second = order[each & (place & 1 == 0)], order[each & (place & 1 == 1)]
    rest = order[~each]
    # other events may be of parts of these ranges
    clear = ~_overlap(target, sector, size, first, rest)
    rest = np.sort(np.concatenate([rest, first[~clear], second[~clear]]))
    return first[clear], second[clear], rest


def _overlap(
    target: np.ndarray, sector: np.ndarray, size: np.ndarray, rows: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Return which of the rows have sectors of one of `others`."""
    overlaps = np.zeros(rows.size, bool)
    for each in np.unique(target[others]).tolist():
        places = np.flatnonzero(target[rows] == each)
        if not places.size:
            continue
        near, mine = others[target[others] == each], rows[places]
        near = near[np.argsort(sector[near], kind="stable")]
        begins = sector[near]
        reach = np.maximum.accumulate(begins + (size[near] >> 9))
        last = np.searchsorted(begins, sector[mine] + (size[mine] >> 9)) - 1
        overlaps[places] = (last >= 0) & (reach[last] > sector[mine])
    return overlaps


class _Machine:
    """The commands that are open, and those that were ended."""

    def __init__(self, *, parts: bool) -> None:
        self.parts = parts
        self.open = Open()
        self.ends: dict[int, list[int]] = {}  # {issue: [last completion, error, bytes]}
        self.reached: dict[int, int] = {}  # {issue: the completion of its last part so far}
        self.in_parts: dict[tuple[int, int, int], Range] = {}  # {range: the command that a part was done of}
        self.whole: dict[tuple[int, int, int], list[int]] = {}  # {range: issues that one completion ended}
        self.orphans: list[int] = []
        self.returned: list[int] = []

    def run(self, rows: np.ndarray, *columns: np.ndarray) -> None:
        """Take events in the order of time: their rows, actions, targets, sectors, bytes and errors."""
        for row, action, target, sector, size, error in zip(
            rows.tolist(), *(column.tolist() for column in columns), strict=True
        ):
            end = sector + (size >> 9)
            if action == ISSUE:
                self.open.add(target, Range(row, sector, end, size))
                self.ends[row] = [_NONE, 0, size]
            elif action == REQUEUE:
                self._put_back(row, target, sector, end)
            else:
                self._complete(row, target, sector, end, size, error)

    def exchange(self) -> None:
        """Give the commands of a range that one completion each ended their ends in the order of issue."""
        for issues in self.whole.values():
            if len(issues) > 1:
                ends = sorted(self.ends[issue][:2] for issue in issues)
                for issue, end in zip(sorted(issues), ends, strict=True):
                    self.ends[issue][:2] = end

    def _put_back(self, row: int, target: int, sector: int, end: int) -> None:
        command = self.open.latest(target, sector, end)
        if command is None:
            self.returned.append(row)
            return
        self.open.remove(target, command)
        if (reached := self.reached.get(command.row)) is None:
            del self.ends[command.row]
        else:
            ended = self.ends[command.row]
            ended[0], ended[2] = reached, ended[2] - command.left

    def _complete(self, row: int, target: int, sector: int, end: int, size: int, error: int) -> None:
        command = self.open.latest(target, sector, end)
        if command is not None and command.row not in self.reached:
            self.whole.setdefault((target, sector, end), []).append(command.row)
        # its parts are of another command, which was issued before the trace
        whole = command is None and (command := self.in_parts.pop((target, sector, end), None))
        if command is None and size:
            command = self.open.around(target, sector, end)
        if command is None:
            self.orphans.append(row)
            return
        if command.open:
            self.open.remove(target, command)
        ended = self.ends[command.row]
        # a part with an unknown error may have failed, too
        if ended[1] in (0, ERROR_UNKNOWN) and error:
            ended[1] = error
        left = command.left - size
        if self.parts and not whole:
            command.start, command.left = end, (command.end - end) << 9
        else:
            command.left = 0 if whole else left
        if command.left > 0:
            self.reached[command.row] = row
            self.open.add(target, command)
        else:
            ended[0] = row
        if size < ended[2]:
            key = (target, command.end - (ended[2] >> 9), command.end)
            if command.left > 0 or left > 0:
                self.in_parts[key] = command
            else:
                self.in_parts.pop(key, None)
