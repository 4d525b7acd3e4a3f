"""Confirm or contradict labels of LMDB's blocks by page numbers and magic numbers (mdb.c of release 0.9.31).

The first page of an overflow value has a header, the others have the value's bytes alone: only the
filesystem's mapping confirms these.
"""

import numpy as np

from analysis.content.blocks import BLOCK
from analysis.content.findings import Finding, contradicted, judge_label
from analysis.content.units import Evidence
from base.arrays import Ints
from model.engines.lmdb import FILES

SEALED = ()
_MAGIC = 0xBEEFC0DE
_BRANCH, _LEAF, _OVERFLOW, _META = 1, 2, 4, 8  # mp_flags
_HEADER = 16  # bytes of a page's header: number, pad, flags, lower and upper bound of the free space
_METAS = 2  # pages
_LARGEST = 1 << 32  # pages


def read(given: Evidence) -> list[Finding]:
    """Judge the units of the data file and of the lock table."""
    data, lock = given.units.of_file("data"), given.units.of_file("lock")
    numbers, metas, others = _pages(given, data)
    first = lock[given.units.offset[lock] == 0]
    magic = given.blocks.words(given.units.row[first], 0, 1, "<u4")[:, 0] == _MAGIC
    return [
        *judge_label(given, "page with its number", FILES["data"][0], numbers),
        *judge_label(given, "meta page", FILES["data"][0], metas),
        *judge_label(given, "header of the lock table", FILES["lock"][0], first[magic]),
        contradicted("page with another page's number", others),
    ]


def _pages(given: Evidence, data: Ints) -> tuple[Ints, Ints, Ints]:
    """Return units of pages that begin with their number, of meta pages, and of pages with another number.

    LMDB's pages have the size of the system's, as blocks do.
    """
    row, page = given.units.row[data], given.units.offset[data] // BLOCK
    number = given.blocks.words(row, 0, 1, "<u8")[:, 0]
    flags, lower, upper = given.blocks.words(row, 10, 3, "<u2").T.astype(np.int64)
    tree = np.isin(flags, (_BRANCH, _LEAF)) & (lower >= _HEADER) & (lower <= upper) & (upper <= BLOCK)
    magic = given.blocks.words(row, _HEADER, 1, "<u4")[:, 0] == _MAGIC
    of_meta = (flags == _META) & magic
    headed = (tree | of_meta | (flags == _OVERFLOW)) & (number < _LARGEST)
    own = number == page
    is_meta = page < _METAS
    meta = is_meta & own & of_meta
    return data[headed & own & ~is_meta], data[meta], data[(headed & ~own) | (is_meta & ~meta)]
