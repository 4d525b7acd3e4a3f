"""Look up earlier and later writes of a file's pages, and read records (WAL frames, …) that span several.

A record of a log file (a WAL frame, a page in a rollback journal) begins anywhere and continues in the next
pages. Pages of one sync may be written in any order, so the writing of a neighbour that belongs to a page is
ambiguous. Both nearest ones are tried; the record's checksum decides.
"""

import numpy as np

from analysis.content.blocks import BLOCK, SECTOR, SECTORS, Blocks
from analysis.content.units import Units
from base.arrays import Ints, unique

_PAGES = 28  # bits for a page number in a key
_ROWS = 32  # bits for a writing
_AT_ONCE = 256  # records: their bytes fit into a cache
# whether to take the next writing of the pages (before, after) instead of the previous, likeliest first
ORDERS = ((False, True), (False, False), (True, True), (True, False))


class Versions:
    """The writings of the pages of some units' files."""

    def __init__(self, blocks: Blocks, units: Units, which: Ints) -> None:
        self.blocks, self.units = blocks, which
        self.inode, self.page = units.inode[which], units.offset[which] // BLOCK
        self.row = units.row[which]
        key = (self.inode << _PAGES) | self.page
        self._known = unique(key)
        self._sorted = unique((np.searchsorted(self._known, key) << _ROWS) | self.row)

    def near(self, inode: Ints, page: Ints, row: Ints, later: bool) -> Ints:
        """Return the last writing of a page up to another writing, or the first after it; -1: none."""
        if not self._known.size:
            return np.full(inode.size, -1, np.int64)
        key = (inode << _PAGES) | page
        dense = np.minimum(np.searchsorted(self._known, key), self._known.size - 1)
        at = np.searchsorted(self._sorted, (dense << _ROWS) | row, side="right") - (not later)
        entry = self._sorted.take(at, mode="clip")
        exists = (at >= 0) & (at < self._sorted.size) & (entry >> _ROWS == dense)
        return np.where(exists & (self._known[dense] == key), entry & ((1 << _ROWS) - 1), -1)

    def words(
        self, which: Ints, page: Ints, start: Ints, size: int, kind: str, later: tuple[bool, bool]
    ) -> tuple[Ints, np.ndarray]:
        """Return the bytes [start, start + size) of the files at some versions, where all are known.

        page: where in the file each of `which` is assumed to be. later: for the pages before and after it,
        whether the next writing is taken instead of the previous one.
        Returns (places in `which`, words (n, size / itemsize) of dtype `kind`).
        """
        first = start // BLOCK
        span = int(((start + size - 1) // BLOCK - first).max(initial=0)) + 1
        pages = first[:, None] + np.arange(span)
        inode, row = (np.repeat(column[which], span) for column in (self.inode, self.row))
        before, behind = (self.near(inode, pages.ravel(), row, side).reshape(pages.shape) for side in later)
        own = page[:, None]
        rows = np.where(pages < own, before, np.where(pages > own, behind, self.row[which][:, None]))
        needless = pages * BLOCK >= (start + size)[:, None]
        kept = np.flatnonzero(((rows >= 0) | needless).all(axis=1) & (start >= 0))
        data = np.empty((kept.size, size), np.uint8)
        for at in range(0, kept.size, _AT_ONCE):
            part = kept[at : at + _AT_ONCE]
            data[at : at + _AT_ONCE] = self._bytes(rows[part], start[part] - first[part] * BLOCK, size)
        return kept, data.view(kind)

    def _bytes(self, rows: Ints, start: Ints, size: int) -> np.ndarray:
        """Return `size` bytes from `start` on of consecutive writings (n, span)."""
        span = (SECTOR + size - 2) // SECTOR + 1  # sectors, for any begin within a sector
        sector = start[:, None] // SECTOR + np.arange(span)
        page = np.minimum(sector // SECTORS, rows.shape[1] - 1)
        writing = np.take_along_axis(rows, page, axis=1)
        flat = self.blocks.log[self.blocks.sectors[writing, sector % SECTORS]].reshape(-1)
        begins = np.arange(rows.shape[0]) * span * SECTOR + start % SECTOR
        return np.asarray(np.lib.stride_tricks.sliding_window_view(flat, size)[begins])
