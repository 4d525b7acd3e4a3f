"""Join the bytes of write commands into blocks of 4096: one row each time a block got all its bytes.

A command may begin or end within a block, as the block layer splits by the queue's max_sectors_kb. Parts of
one block that follow each other without a gap form one writing. A part without its rest is dropped.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from base.arrays import Bools, Ints, expand, ints

Bytes = NDArray[np.uint8]
SECTOR, BLOCK, SECTORS = 512, 4096, 8


def every(values: np.ndarray) -> Bools:
    """Return which rows are true in all columns."""
    return np.asarray(values.all(axis=1))


def some(values: np.ndarray) -> Bools:
    """Return which rows are true in any column."""
    return np.asarray(values.any(axis=1))


def positions(values: Ints, among: Ints) -> Ints:
    """Return the first place of each value in `among`, -1 if it is missing."""
    if not among.size:
        return np.full(values.size, -1, np.int64)
    order = np.argsort(among, kind="stable")
    place = order[np.minimum(np.searchsorted(among[order], values), among.size - 1)]
    return np.where(among[place] == values, place, -1)


class Log(NamedTuple):
    """The write commands in the order of issue."""

    time: Ints  # ns
    sector: Ints
    sectors: Ints
    begin: Ints  # offset of its bytes in `data`; -1: not kept
    data: Bytes

    def take(self, rows: Ints) -> Self:
        """Return some commands; `data` stays whole."""
        columns = {name: getattr(self, name)[rows] for name in self._fields if name != "data"}
        return self._replace(**columns)


@dataclass(frozen=True)
class Blocks:
    """The writings of blocks, in order. `sectors`: the place in the log of each of their eight sectors."""

    number: Ints  # block on the device
    time: Ints  # ns
    record: Ints  # last record of the log with a part of it
    sectors: Ints  # (n, 8)
    log: Bytes  # (sectors, 512)

    def take(self, rows: Ints) -> Bytes:
        """Return the bytes of writings: (n, 4096)."""
        return self.log[self.sectors[rows]].reshape(-1, BLOCK)

    def words(self, rows: Ints, first: int, count: int, kind: str) -> np.ndarray:
        """Return `count` words of dtype `kind` from byte `first` on, all in one sector: (n, count)."""
        size = np.dtype(kind).itemsize * count
        sector, at = divmod(first, SECTOR)
        part = self.log[self.sectors[rows, sector], at : at + size]
        return np.ascontiguousarray(part).view(kind)


class Places(NamedTuple):
    """The place of each part of each record among the blocks."""

    first: Ints  # place of a record's first part
    parts: Ints  # number of parts of a record
    block: Ints  # block of the first part
    row: Ints  # of a part, in Blocks; -1: the block was never complete

    def find(self, record: Ints, block: Ints) -> Ints:
        """Return the row of the writing with a record's part of a block, -1 if there is none."""
        nth = block - self.block[record]
        rows: Ints = self.row[self.first[record] + np.clip(nth, 0, self.parts[record] - 1)]
        return np.where((nth >= 0) & (nth < self.parts[record]), rows, -1)


def blocks(log: Log) -> tuple[Blocks, Places]:
    """Split the log into blocks."""
    end = log.sector + log.sectors
    first = log.sector // SECTORS
    count = (end - 1) // SECTORS - first + 1
    record, number = expand(first, count)
    low = np.maximum(log.sector[record] - number * SECTORS, 0)
    high = np.minimum(end[record] - number * SECTORS, SECTORS)
    at = log.begin[record] // SECTOR + number * SECTORS + low - log.sector[record]
    sectors = at[:, None] + np.arange(SECTORS) - low[:, None]
    row = np.arange(record.size)
    kept = log.begin[record] >= 0
    whole = (high - low == SECTORS) & kept
    part = np.flatnonzero(~whole & kept)
    if part.size:
        whole[_join(part, number, low, high, at, sectors, row)] = True
    place = np.where(whole, np.cumsum(whole) - 1, -1)
    rows = np.flatnonzero(whole)
    data = log.data[: log.data.size // SECTOR * SECTOR].reshape(-1, SECTOR)
    made = Blocks(number[rows], log.time[record[rows]], record[rows], sectors[rows], data)
    return made, Places(ints(np.cumsum(count) - count), count, first, place[row])


def _join(part: Ints, number: Ints, low: Ints, high: Ints, at: Ints, sectors: Ints, row: Ints) -> Ints:
    """Join the parts of blocks; return the parts that complete one.

    Sets `sectors` and `row` of the parts that belong to it.
    """
    part = part[np.argsort(number[part], kind="stable")]
    follows = np.zeros(part.size, bool)
    follows[1:] = (number[part[1:]] == number[part[:-1]]) & (low[part[1:]] == high[part[:-1]])
    group = np.cumsum(~follows) - 1
    first = np.flatnonzero(~follows)
    last = np.r_[first[1:], part.size] - 1
    complete = (low[part[first]] == 0) & (high[part[last]] == SECTORS)
    member = np.flatnonzero(complete[group])
    whole = part[last[group[member]]]
    of, sector = expand(low[part[member]], (high - low)[part[member]])
    sectors[whole[of], sector] = (at - low)[part[member]][of] + sector
    row[part[member]] = whole
    return np.asarray(part[last[complete]])
