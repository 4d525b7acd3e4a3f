"""Searching and measuring with sorted arrays: what the ledger's modules share.

All times and keys are int64 unless said otherwise; -1 stands for "none".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_RANK = 32  # bits of a composite key that hold the rank of a time


class Intervals(NamedTuple):
    """Half-open intervals [begins, ends), disjoint and ascending."""

    begins: Ints
    ends: Ints


def ints(values: object) -> Ints:
    """Return values as an int64 array."""
    return np.asarray(values).astype(np.int64, copy=False)


def at(column: Ints, rows: Ints) -> Ints:
    """Return column[rows], -1 where a row is -1."""
    if not column.size:
        return np.full(rows.shape, -1, np.int64)
    return np.where(rows >= 0, np.take(column, rows, mode="clip"), -1)


def distinct(values: np.ndarray) -> list[int]:
    """Return the values there are, ascending; quick where it is one."""
    if values.size and (values == values[0]).all():
        return [int(values[0])]
    return [int(value) for value in unique(values)]


def unique(values: np.ndarray) -> np.ndarray:
    """Return the values there are, ascending. (numpy.unique loads numpy.ma first: 40 ms.)"""
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])] if ordered.size else ordered


def pairs(ones: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Return the different pairs there are, ascending; both are below 2**31."""
    both = unique(ones << _RANK | others)
    return both >> _RANK, both & ((1 << _RANK) - 1)


def inside(times: Ints, begins: Ints, ends: Ints) -> Ints:
    """Return for each time the row of the disjoint, ascending intervals it lies in, or -1."""
    if not begins.size or not times.size:
        return np.full(times.shape, -1, np.int64)
    # only those that can hold one of the times
    low = int(np.searchsorted(begins, times.min(), side="right")) - 1
    high = int(np.searchsorted(begins, times.max(), side="right"))
    low = max(low, 0)
    row = np.searchsorted(begins[low:high], times, side="right") + (low - 1)
    return np.where((row >= low) & (times < np.take(ends, row, mode="clip")), row, -1)


def union(begins: Ints, ends: Ints) -> Intervals:
    """Return the union of intervals in any order."""
    order = np.argsort(begins, kind="stable")
    begins, reach = begins[order], np.maximum.accumulate(ends[order])
    if not begins.size:
        return Intervals(begins, reach)
    opens = np.flatnonzero(np.r_[True, begins[1:] > reach[:-1]])
    return Intervals(begins[opens], reach[np.r_[opens[1:] - 1, begins.size - 1]])


def intersect(one: Intervals, other: Intervals) -> Intervals:
    """Return what lies in both."""
    first = np.searchsorted(other.ends, one.begins, side="right")
    last = np.searchsorted(other.begins, one.ends, side="left")
    mine, theirs = expand(first, np.maximum(last - first, 0))
    return Intervals(
        np.maximum(one.begins[mine], other.begins[theirs]),
        np.minimum(one.ends[mine], other.ends[theirs]),
    )


def length_within(covered: Intervals, begins: Ints, ends: Ints) -> Ints:
    """Return how much of each interval [begin, end) is covered."""
    return _covered_before(covered, ends) - _covered_before(covered, begins)


def _covered_before(covered: Intervals, times: Ints) -> Ints:
    total = np.r_[0, np.cumsum(covered.ends - covered.begins)]
    row = np.searchsorted(covered.begins, times, side="right")
    if not covered.begins.size:
        return np.zeros(times.shape, np.int64)
    over = np.where(row > 0, np.maximum(covered.ends[row - 1] - times, 0), 0)
    result: Ints = total[row] - over
    return result


def expand(firsts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return (row, item) of each item where row i has the items firsts[i] + 0 .. counts[i] - 1."""
    rows = np.repeat(np.arange(firsts.size), counts)
    before = np.cumsum(counts) - counts
    items = np.arange(rows.size) - np.repeat(before - firsts, counts)
    return rows, items


class LastBefore:
    """Finds, of events with a key and a time, the last one of a key up to a time."""

    def __init__(self, keys: Ints, times: Ints) -> None:
        self._times = np.sort(times)
        self._known, dense = np.unique(keys, return_inverse=True)
        rank = np.searchsorted(self._times, times, side="left")
        composite = (dense.astype(np.int64) << _RANK) | rank
        self._order = np.argsort(composite, kind="stable")
        self._composite = composite[self._order]

    def find(self, keys: Ints, times: Ints) -> Ints:
        """Return the number of the last event of each key at or before each time, or -1."""
        if not self._known.size:
            return np.full(keys.shape, -1, np.int64)
        dense = np.minimum(np.searchsorted(self._known, keys), self._known.size - 1)
        rank = np.searchsorted(self._times, times, side="right")
        at = np.searchsorted(self._composite, (dense << _RANK) | rank, side="left") - 1
        found = (at >= 0) & (self._known[dense] == keys)
        found &= (self._composite[np.maximum(at, 0)] >> _RANK) == dense
        return np.where(found, self._order[np.maximum(at, 0)], -1)

    def last_of_each(self, time: int) -> Ints:
        """Return the numbers of the events that can still be found from `time` on: the last of
        each key up to then, and all later ones."""
        late = np.searchsorted(self._times, time, side="right")
        key, rank = self._composite >> _RANK, self._composite & ((1 << _RANK) - 1)
        hidden = np.zeros(key.size, bool)
        hidden[:-1] = (key[1:] == key[:-1]) & (rank[1:] < late)
        kept: Ints = self._order[~hidden]
        return kept


def first_after(keys: Ints, times: Ints, event_keys: Ints, event_times: Ints) -> Ints:
    """Return the time of the first event of each key at or after each time, or the largest int64."""
    last = LastBefore(event_keys, -event_times).find(keys, -times)
    never = np.iinfo(np.int64).max
    found: Ints = np.r_[event_times, never][last]
    return found
