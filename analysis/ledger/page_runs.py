"""Lay out the pages of bios as runs of consecutive pages of one file, for lookup by sector."""

from typing import NamedTuple

import numpy as np

from analysis.ledger.files import PAGE_SECTORS
from analysis.ledger.records import Columns
from base.arrays import Bools, Ints, ascending, preceding

# The owners of a `pages` record (its `flags`), and of a bio whose pages do not fill it.
REGULAR, DIRECTORY, DEVICE, OTHER, NONE, MOVED, UNKNOWN = range(7)


class Runs(NamedTuple):
    """Consecutive pages of one owner within a bio; all bios, end to end, are one sequence of sectors."""

    base: Ints  # per bio: its start in the sequence
    first: Ints  # per bio: its first run
    begin: Ints  # per run
    owner: Ints
    inode: Ints
    page: Ints  # index of its first page
    moved: Bools  # by the filesystem's garbage collector


def runs(pages: Columns, bio: Columns) -> tuple[Runs, Bools]:
    """Lay out the pages of all bios, and return which bios have another number of records than they counted.

    Both have the columns of the probes' records (docs/reference/formats.md): `d` is the bio's number, `n` its
    sectors or a record's pages, `a` and `b` the inode and the first page; `flags` of a bio counts its
    records. A bio with data whose pages do not fill it has an unknown owner.
    """
    order = np.argsort(bio["d"], kind="stable")
    serials, serial = np.r_[-1, bio["d"].take(order)], pages["d"]
    place = preceding(serials, serial) - 1
    has_bio, of = serials.take(place) == serial, np.r_[-1, order].take(place)
    if not has_bio.all():
        pages, of = pages.take(np.flatnonzero(has_bio)), of.compress(has_bio)
    sectors = bio["n"]
    unpaged = np.bincount(of, minlength=bio.size) != bio["flags"]
    filled = np.bincount(of, pages["n"], bio.size) * PAGE_SECTORS
    bad = np.flatnonzero((sectors > 0) & ((filled < sectors) | (filled >= sectors + PAGE_SECTORS)))
    if bad.size:
        keep = ~np.isin(of, bad)
        pages, of = pages.take(np.flatnonzero(keep)), of.compress(keep)
    base = np.cumsum(sectors) - sectors
    length = pages["n"] * PAGE_SECTORS
    before = np.cumsum(length) - length
    first = np.r_[True, of[1:] != of[:-1]] if of.size else np.empty(0, bool)
    firsts = np.flatnonzero(first)
    begin = base.take(of) + before - np.repeat(before.take(firsts), np.diff(np.r_[firsts, of.size]))
    owner = pages["flags"]
    moved = owner == MOVED
    columns = [begin, np.where(moved, REGULAR, owner), pages["a"], pages["b"], moved]
    if bad.size:
        others = (base[bad], *(np.full(bad.size, value) for value in (UNKNOWN, 0, 0, False)))
        columns = [np.concatenate(both) for both in zip(columns, others, strict=True)]
    if not ascending(columns[0]):
        order = np.argsort(columns[0], kind="stable")
        columns = [column.take(order) for column in columns]
    return Runs(base, preceding(columns[0], base) - 1, *columns), unpaged


def runs_of(of: Runs, bio: Ints, begin: Ints, end: Ints, next_run: Ints) -> tuple[Ints, Ints]:
    """Return (first run, number of runs) of each [begin, end) within a bio.

    next_run: where the run after each begins.
    """
    first, count = of.first.take(bio), np.ones(bio.size, np.int64)
    # mostly a part lies in one run
    several = np.flatnonzero(next_run.take(first) < end)
    first[several] = preceding(of.begin, begin.take(several)) - 1
    count[several] = preceding(of.begin, end.take(several) - 1) - first.take(several)
    return first, count
