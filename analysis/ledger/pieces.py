"""Split each read and write command by its bios' pages into parts with label (WAL, inode, …), file and call.

A bio's `pages` records have the mapping of each page when it was queued: a file, a directory, the block
device, an internal inode of the filesystem, or none. They also mark file pages that garbage collection
moved. docs/reference/ledger.md lists the kernel functions; model/filesystems/ the meaning per filesystem.
"""

from typing import NamedTuple

import numpy as np

from analysis.adapters.layouts import DATA, Layout
from analysis.ledger.files import PAGE, PAGE_SECTORS, Inodes, Writers
from analysis.ledger.match import Parts
from analysis.ledger.records import Columns
from analysis.schemas.ledger import FILES, LABELS
from base.arrays import Bools, Ints, ascending, expand, preceding
from model import engines, filesystems
from model.block_operations import OP, READ, WRITE

# The owners of a `pages` record (its `flags`), and of a bio that its pages do not fill.
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
    records. A bio with data that its pages do not fill has an unknown owner.
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


_LABEL = {label: place for place, label in enumerate(LABELS)}
_JOURNAL, _UNATTRIBUTED = _LABEL["filesystem journal"], _LABEL["unattributed"]
# the label of a file's page by the file's role
OF_ROLE = {
    **{role: label for role, (label, _) in engines.files().items()},
    "other": "other",
    "directory": "directory",
}
# by index in FILES; the last entry is for -1, an unknown inode
_OF_FILE = np.array([*(_LABEL[OF_ROLE[role]] for role in FILES), _UNATTRIBUTED])


class Pieces(NamedTuple):
    """One row per piece, sorted by command and sector; -1 is null."""

    command: Ints
    bio: Ints
    sector: Ints
    sectors: Ints
    label: Ints
    of: Ints
    file: Ints
    inode: Ints
    offset: Ints
    vfs_call: Ints
    moved: Bools
    owner: Ints
    home: Ints  # home sector of a device page, else -1


def pieces(
    parts: Parts,
    block: Columns,
    bio: Columns,
    of: Runs,
    layout: Layout,
    inodes: Inodes,
    writers: Writers | None,
) -> Pieces:
    """Return the labelled pieces of write commands; without writers, those of read commands."""
    operation = READ if writers is None else WRITE
    rows = np.flatnonzero((block["b"] & OP).take(parts.command) == operation)
    command, number, sector, sectors = (column.take(rows) for column in parts)
    begin = of.base.take(number) + sector - bio["a"].take(number)
    next_run = np.r_[of.begin[1:], np.iinfo(np.int64).max]
    first, count = runs_of(of, number, begin, begin + sectors, next_run)
    part, run = expand(first, count)
    low = np.maximum(of.begin.take(run), begin.take(part))
    high = np.minimum(next_run.take(run), (begin + sectors).take(part))
    row, low, high = _split_at_pages(run, low, high, of)
    part, run = part.take(row), run.take(row)
    command, number = command.take(part), number.take(part)
    at = (sector - begin).take(part) + low
    since = low - of.begin.take(run)
    page = of.page.take(run) + since // PAGE_SECTORS
    owner, inode = of.owner.take(run), of.inode.take(run)
    of_file, sql = owner <= DIRECTORY, np.flatnonzero(owner == REGULAR)
    file, call = np.where(of_file, FILES.index("directory"), -1), np.full(part.size, -1, np.int64)
    file[sql] = inodes.kind(inode.take(sql), bio["begin_ns"], number.take(sql))
    if writers is not None:
        call[sql] = writers.last_calls(inode.take(sql), page.take(sql), bio["begin_ns"], number.take(sql))
    label, copied, home = _labels(owner, inode, page, at, file, layout)
    is_directory = label == _LABEL["directory"]
    result = Pieces(
        command=command,
        bio=number,
        sector=at,
        sectors=high - low,
        label=label,
        of=copied,
        file=np.where(is_directory, FILES.index("directory"), file),
        inode=np.where(of_file, inode, -1),
        offset=np.where(of_file, of.page.take(run) * PAGE + since * 512, -1),
        vfs_call=call,
        moved=of.moved.take(run),
        owner=owner,
        home=home,
    )
    return _join(result, part, run)


def _split_at_pages(run: Ints, low: Ints, high: Ints, of: Runs) -> tuple[Ints, Ints, Ints]:
    """Cut [low, high) of files at page boundaries: (source row, low, high)."""
    begin = of.begin.take(run)
    first = (low - begin) // PAGE_SECTORS
    last = (high - begin - 1) // PAGE_SECTORS
    count = np.where(of.owner.take(run) == REGULAR, last - first + 1, 1)
    row, page = expand(first, count)
    low, high = low.take(row), high.take(row)
    cut = np.flatnonzero(count.take(row) > 1)
    edge = (begin.take(row) + page * PAGE_SECTORS).take(cut)
    low[cut] = np.maximum(low.take(cut), edge)
    high[cut] = np.minimum(high.take(cut), edge + PAGE_SECTORS)
    return row, low, high


def _labels(
    owner: Ints, inode: Ints, page: Ints, sector: Ints, file: Ints, layout: Layout
) -> tuple[Ints, Ints, Ints]:
    """Return (label, index of the label it copies or -1, home sector or -1) of each piece."""
    kind, region = filesystems.by_name(layout.filesystem), layout.label(sector)
    label, copied, home = (np.full(owner.size, none) for none in (_UNATTRIBUTED, -1, -1))
    of_file, device = owner <= DIRECTORY, np.flatnonzero(owner == DEVICE)
    label = np.where(of_file, _OF_FILE.take(file), label)
    label[device] = _or_unattributed(region.take(device))
    home[device] = page.take(device) * PAGE_SECTORS
    of_region = owner == NONE
    for number, name in kind.inodes.items():
        own = (owner == OTHER) & (inode == number)
        if name is None:
            of_region |= own
        else:
            label[own] = _LABEL[name]
    label[of_region] = _or_unattributed(region[of_region])
    logged = np.flatnonzero((region == _JOURNAL) & (owner != UNKNOWN))
    copied[logged] = np.where(of_region.take(logged), -1, label.take(logged))
    device = logged.compress(owner.take(logged) == DEVICE)
    of_home = _or_unattributed(layout.label(home.take(device)))
    copied[device] = np.where(of_home == _JOURNAL, -1, of_home)
    label[logged] = _JOURNAL
    return label, copied, home


def _or_unattributed(region: Ints) -> Ints:
    """Return the labels of regions, unattributed where there is none."""
    return np.where(region == DATA, _UNATTRIBUTED, region)


def _join(rows: Pieces, part: Ints, run: Ints) -> Pieces:
    """Merge neighbours that differ only in their place."""
    if not part.size:
        return rows
    same = np.ones(part.size - 1, bool)
    for column in (part, run, rows.label, rows.of, rows.vfs_call):
        same &= column[1:] == column[:-1]
    if not same.any():
        return rows
    first = np.flatnonzero(np.r_[True, ~same])
    sectors = np.add.reduceat(rows.sectors, first)
    return Pieces(
        *(sectors if name == "sectors" else getattr(rows, name).take(first) for name in Pieces._fields)
    )
