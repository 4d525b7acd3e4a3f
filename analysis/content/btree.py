"""Parse pages of SQLite's b-tree tables: the row numbers in a page, and the child pages of an interior page.

https://www.sqlite.org/fileformat2.html#b_tree_pages. Only tables are read: an index has no row numbers.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from base.arrays import Ints, expand

INTERIOR, LEAF = 5, 13  # of a table
_HEADER = {INTERIOR: 12, LEAF: 8}
FIRST = 100  # bytes of the file header before the page header of page 1
_TITLE = b"SQLite format 3\0"


class Rows(NamedTuple):
    """The cells of pages: (place of the page, row number of the cell, page of the child or 0)."""

    page: Ints
    row: Ints
    child: Ints


def titled(pages: np.ndarray) -> np.ndarray:
    """Return which pages (n, size) begin with a database header."""
    return np.asarray((pages[:, :16] == np.frombuffer(_TITLE, np.uint8)).all(axis=1))


def cells(pages: np.ndarray, numbers: Ints) -> Iterator[tuple[int, Rows]]:
    """Yield (kind, cells) of the valid table pages of each kind. `numbers` are the page numbers."""
    kinds = _kinds(pages, numbers)
    for kind in (LEAF, INTERIOR):
        places = np.flatnonzero(kinds == kind)
        rows = _rows(pages[places], numbers[places], kind)
        yield kind, rows._replace(page=places[rows.page])


def _kinds(pages: np.ndarray, numbers: Ints) -> Ints:
    """Return the kind of each valid table page, 0 for any other."""
    at = np.where(numbers == 1, FIRST, 0)
    kind = pages[np.arange(numbers.size), at].astype(np.int64)
    kind[~np.isin(kind, (INTERIOR, LEAF))] = 0
    every = np.arange(numbers.size)
    cells, content = _number(pages, every, at + 3, 2), _number(pages, every, at + 5, 2)
    end = at + np.where(kind == INTERIOR, 12, 8) + 2 * cells
    content[content == 0] = 65536
    kind[(end > content) | (content > pages.shape[1])] = 0
    return kind


def _rows(pages: np.ndarray, numbers: Ints, kind: int) -> Rows:
    """Return the cells of valid pages of one kind.

    The cells of an interior page are followed by its right-most child, with the largest row number.
    """
    at = np.where(numbers == 1, FIRST, 0)
    every = np.arange(numbers.size)
    page, place = expand(at + _HEADER[kind], _number(pages, every, at + 3, 2))
    _, cell = expand(np.zeros(numbers.size, np.int64), _number(pages, every, at + 3, 2))
    pointer = _number(pages, page, place + cell, 2)  # two bytes each
    if kind == LEAF:
        row, _ = _varint(pages, page, _varint(pages, page, pointer)[1])
        return Rows(page, row, np.zeros(page.size, np.int64))
    row, _ = _varint(pages, page, pointer + 4)
    return Rows(
        np.r_[page, every],
        np.r_[row, np.full(every.size, np.iinfo(np.int64).max)],
        np.r_[_number(pages, page, pointer, 4), _number(pages, every, at + 8, 4)],
    )


def _number(pages: np.ndarray, page: Ints, at: Ints, size: int) -> Ints:
    """Return the big-endian number of `size` bytes at an offset in each page; beyond the page, 0."""
    number = np.zeros(page.size, np.int64)
    for byte in range(size):
        number = number << 8 | pages[page, np.minimum(at + byte, pages.shape[1] - 1)]
    return number


def _varint(pages: np.ndarray, page: Ints, at: Ints) -> tuple[Ints, Ints]:
    """Return (value, end) of the variable-length integer at an offset in each page."""
    value, end = np.zeros(page.size, np.int64), at.copy()
    more = np.ones(page.size, bool)
    for place in range(9):
        byte = _number(pages, page, end, 1)
        bits, low = (8, byte) if place == 8 else (7, byte & 0x7F)
        value = np.where(more, value << bits | low, value)
        end = end + more
        more = more & (byte > 0x7F)
    return value, end
