"""Recognise SQLite's database pages by contents known from WAL or rollback journal, and by row numbers.

A WAL frame or a rollback journal record gives the content of page N. A block with the same content at page
N's place is page N. A page that was never copied is identified by its rows: the page had some of them at
another time, or the parent's cell that points to it has them between its bounds.
"""

from dataclasses import dataclass, field

import numpy as np

from analysis.content import btree
from analysis.content.blocks import BLOCK, some
from base.arrays import Ints, expand, unique

_ROUNDS = 4  # depth of a tree: a confirmed page identifies its children
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def hashes(words: np.ndarray) -> np.ndarray:
    """Return a hash of each row of 64-bit words, 0 only for a row of zeros."""
    factors = np.cumprod(np.full(words.shape[1], _FACTOR), dtype=np.uint64)
    mixed = words ^ (words >> np.uint64(31))
    return np.asarray(np.einsum("ij,j->i", mixed, factors))


def placed(hashed: np.ndarray, place: Ints) -> np.ndarray:
    """Return a hash of (content, place)."""
    return np.asarray(hashed ^ ((place.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)))


@dataclass
class KnownPages:
    """Known contents of database pages. A slice is a page, or a block if pages are larger."""

    size: int  # bytes of a page
    numbers: Ints
    contents: np.ndarray  # (n, size / 8)
    _rows: list[np.ndarray] = field(default_factory=list)  # (page, row), ascending by page then row
    # (page, its rows are above this one, its last row)
    _bounds: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        each = self.size // self.slice
        hashed = hashes(self.contents.reshape(-1, self.slice // 8))
        place = ((self.numbers - 1)[:, None] * each + np.arange(each)).ravel()
        self.hashed, self.here = hashed[hashed != 0], placed(hashed, place)[hashed != 0]
        # each distinct content once
        _, first = np.unique(placed(hashed[::each], self.numbers), return_index=True)
        if self.size <= BLOCK:
            self._learn(self.contents[first].view(np.uint8), self.numbers[first])

    @property
    def slice(self) -> int:
        """Bytes of a slice."""
        return min(self.size, BLOCK)

    def same(self, words: np.ndarray, offset: Ints) -> tuple[np.ndarray, np.ndarray]:
        """Return which blocks (n, 512 words) hold a known page at its place, and which one of another place.

        offset: of each block in the file.
        """
        each = BLOCK // self.slice
        hashed = hashes(words.reshape(-1, self.slice // 8))
        place = ((offset // self.slice)[:, None] + np.arange(each)).ravel()
        here = np.isin(placed(hashed, place), self.here)
        elsewhere = np.isin(hashed, self.hashed) & ~here
        return some(here.reshape(-1, each)), some(elsewhere.reshape(-1, each))

    def by_rows(self, blocks: np.ndarray, offset: Ints) -> np.ndarray:
        """Return which blocks (n, 4096 bytes) have pages with rows that belong there."""
        if self.size > BLOCK:
            return np.zeros(offset.size, bool)
        pages, each = blocks.reshape(-1, self.size), BLOCK // self.size
        numbers = ((offset // self.size)[:, None] + np.arange(each)).ravel() + 1
        fitting = np.zeros(numbers.size, bool)
        for _ in range(_ROUNDS):
            left = np.flatnonzero(~fitting)
            new = left[self._fits(pages[left], numbers[left])]
            if not new.size:
                break
            fitting[new] = True
            self._learn(pages[new], numbers[new])
        return some(fitting.reshape(-1, each))

    def _learn(self, pages: np.ndarray, numbers: Ints) -> None:
        """Add the rows of pages, and the bounds of their children."""
        for kind, cells in btree.cells(pages, numbers):
            self._rows.append(np.stack([numbers[cells.page], cells.row], axis=1))
            if kind == btree.INTERIOR:
                order = np.lexsort((cells.row, cells.page))
                above = np.full(order.size, np.iinfo(np.int64).min)
                follows = np.flatnonzero(np.diff(cells.page[order]) == 0) + 1
                above[follows] = cells.row[order][follows - 1]
                self._bounds.append(np.stack([cells.child[order], above, cells.row[order]], axis=1))

    def _fits(self, pages: np.ndarray, numbers: Ints) -> np.ndarray:
        """Return which pages have a row that is known of their number, or all rows between its bounds."""
        fitting = np.zeros(numbers.size, bool)
        had = np.concatenate(self._rows)
        bounds = np.concatenate(self._bounds)
        bounds = bounds[np.argsort(bounds[:, 0], kind="stable")]
        known = unique(placed(had[:, 1].astype(np.uint64), had[:, 0]))
        for _, cells in btree.cells(pages, numbers):
            true = cells.row < np.iinfo(np.int64).max
            page, row = cells.page[true], cells.row[true]
            if not page.size:
                continue
            fitting[page[np.isin(placed(row.astype(np.uint64), numbers[page]), known)]] = True
            low, high = (np.full(numbers.size, edge) for edge in (2**63 - 1, -(2**63)))
            np.minimum.at(low, page, row)
            np.maximum.at(high, page, row)
            parents = np.unique(page)
            first = np.searchsorted(bounds[:, 0], numbers[parents])
            count = np.searchsorted(bounds[:, 0], numbers[parents], side="right") - first
            of, bound = expand(first, count)
            inside = (low[parents[of]] > bounds[bound, 1]) & (high[parents[of]] <= bounds[bound, 2])
            fitting[parents[of[inside]]] = True
        return fitting
