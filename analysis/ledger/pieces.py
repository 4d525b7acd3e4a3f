"""What is in each write command: parts with one label, from the pages of its bios.

A bio's `pages` records name, page by page, the mapping each page belonged to when it was
queued: that of a file, of a directory, of the block device (ext4's metadata), of F2FS's node or
meta inode, or none; and whether F2FS's garbage collector had a file's page moved. docs/ledger.md tells which
kernel functions put it there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.adapters.layout import DATA, Layout
from analysis.adapters.proberecords import taken
from analysis.ledger.arrays import Bools, Ints, ascending, expand, ints, preceding
from analysis.ledger.files import PAGE, PAGE_SECTORS, Inodes, Writers
from analysis.ledger.match import OP, WRITE, Parts
from analysis.ledger.schema import FILES, LABELS

REGULAR, DIRECTORY, DEVICE, OTHER, NONE, MOVED, UNKNOWN = range(7)  # owners; the last is ours
_F2FS_NODE, _F2FS_META = 1, 2  # inode numbers
_LABEL = {label: place for place, label in enumerate(LABELS)}
_JOURNAL, _UNATTRIBUTED = _LABEL["filesystem journal"], _LABEL["unattributed"]
# of a page of a file, by its place in schema.FILES; the last is for -1, an unknown inode
_OF_FILE = np.array(
    [
        *(_LABEL[name] for name in ("database page", "rollback journal", "WAL", "other", "other")),
        *(_LABEL["directory"], _UNATTRIBUTED),
    ]
)


class Runs(NamedTuple):
    """Consecutive pages of one owner within a bio, all bios' sectors laid end to end."""

    base: Ints  # of each bio: where it begins on that line
    begin: Ints  # of each run
    owner: Ints
    inode: Ints
    page: Ints  # index of its first page
    moved: Bools  # by F2FS's garbage collector


class Pieces(NamedTuple):
    """Row by row, sorted by command and sector; -1 is null."""

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
    home: Ints  # sector of the block that a device page is, else -1


def runs(pages: np.ndarray, bio: np.ndarray) -> tuple[Runs, Bools]:
    """Lay out the pages of all bios; and say which have not as many records as they should.

    A bio with data whose pages do not fill it is of unknown owner.
    """
    order = np.argsort(bio["d"], kind="stable")
    serials, serial = np.r_[-1, ints(bio["d"])[order]], ints(pages["d"])
    order = np.r_[-1, order]
    place = preceding(serials, serial) - 1
    known = serials[place] == serial
    pages, of = (pages, order[place]) if known.all() else (taken(pages, known), order[place[known]])
    sectors = ints(bio["n"])
    unpaged = np.bincount(of, minlength=bio.size) != bio["flags"]
    filled = np.bincount(of, pages["n"], bio.size) * PAGE_SECTORS
    bad = np.flatnonzero((sectors > 0) & ((filled < sectors) | (filled >= sectors + PAGE_SECTORS)))
    if bad.size:
        keep = ~np.isin(of, bad)
        pages, of = taken(pages, keep), of[keep]
    base = np.cumsum(sectors) - sectors
    length = ints(pages["n"]) * PAGE_SECTORS
    before = np.cumsum(length) - length
    first = np.r_[True, of[1:] != of[:-1]] if of.size else np.empty(0, bool)
    begin = base[of] + before - np.repeat(before[first], np.diff(np.r_[np.flatnonzero(first), of.size]))
    owner = ints(pages["flags"])
    moved = owner == MOVED
    columns = [begin, np.where(moved, REGULAR, owner), ints(pages["a"]), ints(pages["b"]), moved]
    if bad.size:
        others = (base[bad], *(np.full(bad.size, value) for value in (UNKNOWN, 0, 0, False)))
        columns = [np.concatenate(both) for both in zip(columns, others, strict=True)]
    if not ascending(columns[0]):
        order = np.argsort(columns[0], kind="stable")
        columns = [column[order] for column in columns]
    return Runs(base, *columns), unpaged


def pieces(
    parts: Parts,
    block: np.ndarray,
    bio: np.ndarray,
    of: Runs,
    layout: Layout,
    inodes: Inodes,
    writers: Writers,
) -> Pieces:
    """Label the parts of write commands."""
    written = np.flatnonzero((block["b"][parts.command] & OP) == WRITE)
    command, number, sector, sectors = (column[written] for column in parts)
    begin = of.base[number] + sector - ints(bio["a"][number])
    first = preceding(of.begin, begin) - 1
    last = preceding(of.begin, begin + sectors - 1)
    part, run = expand(first, np.maximum(last - first, 0))
    low = np.maximum(of.begin[run], begin[part])
    next_run = np.r_[of.begin[1:], np.iinfo(np.int64).max]
    high = np.minimum(next_run[run], (begin + sectors)[part])
    row, low, high = _split_at_pages(run, low, high, of)
    part, run = part[row], run[row]
    at = sector[part] + low - begin[part]
    page = of.page[run] + (low - of.begin[run]) // PAGE_SECTORS
    owner, inode = of.owner[run], of.inode[run]
    own, sql = np.flatnonzero(owner <= DIRECTORY), np.flatnonzero(owner == REGULAR)
    file, call = np.full(part.size, -1, np.int64), np.full(part.size, -1, np.int64)
    time = ints(bio["begin_ns"])[number[part[sql]]]
    file[own] = FILES.index("directory")
    file[sql] = inodes.kind(inode[sql], time)
    call[sql] = writers.find(inode[sql], page[sql], time)
    label, copied, home = _labels(owner, inode, page, at, file, layout)
    is_directory = label == _LABEL["directory"]
    result = Pieces(
        command=command[part],
        bio=number[part],
        sector=at,
        sectors=high - low,
        label=label,
        of=copied,
        file=np.where(is_directory, FILES.index("directory"), file),
        inode=np.where(owner <= DIRECTORY, inode, -1),
        offset=np.where(owner <= DIRECTORY, page * PAGE + (low - of.begin[run]) % PAGE_SECTORS * 512, -1),
        vfs_call=call,
        moved=of.moved[run],
        owner=owner,
        home=home,
    )
    return _join(result, part, run)


def _split_at_pages(run: Ints, low: Ints, high: Ints, of: Runs) -> tuple[Ints, Ints, Ints]:
    """Cut [low, high) of files at their pages: (row it came from, low, high)."""
    begin = of.begin[run]
    first = (low - begin) // PAGE_SECTORS
    count = np.where(of.owner[run] == REGULAR, (high - begin - 1) // PAGE_SECTORS - first + 1, 1)
    row, page = expand(first, count)
    whole = count[row] == 1
    edge = begin[row] + page * PAGE_SECTORS
    cut_low = np.where(whole, low[row], np.maximum(low[row], edge))
    cut_high = np.where(whole, high[row], np.minimum(high[row], edge + PAGE_SECTORS))
    return row, cut_low, cut_high


def _labels(
    owner: Ints, inode: Ints, page: Ints, sector: Ints, file: Ints, layout: Layout
) -> tuple[Ints, Ints, Ints]:
    """Return (label, what it is a copy of or -1, home sector or -1) of each piece."""
    ext4, region = layout.filesystem == "ext4", layout.label(sector)
    label, copied, home = (np.full(owner.size, none) for none in (_UNATTRIBUTED, -1, -1))
    of_file, other, device = owner <= DIRECTORY, owner == OTHER, np.flatnonzero(owner == DEVICE)
    label[of_file] = _OF_FILE[file[of_file]]
    label[other] = _LABEL["other"]
    label[device] = _metadata(region[device], ext4)
    home[device] = page[device] * PAGE_SECTORS
    meta = owner == NONE
    if not ext4:
        label[other & (inode == _F2FS_NODE)] = _LABEL["inode/node"]
        meta |= other & (inode == _F2FS_META)
    label[meta] = np.where(region[meta] == DATA, _UNATTRIBUTED, region[meta])
    if ext4:
        logged = np.flatnonzero((region == _JOURNAL) & (owner != UNKNOWN))
        copied[logged] = np.where(meta[logged], -1, label[logged])
        device = logged[owner[logged] == DEVICE]
        of_home = _metadata(layout.label(home[device]), ext4)
        copied[device] = np.where(of_home == _JOURNAL, -1, of_home)
        label[logged] = _JOURNAL
    return label, copied, home


def _metadata(region: Ints, ext4: bool) -> Ints:
    """Label of a page of the block device: where no region names it, a block that an inode
    maps with (extent tree, indirect, extended attributes) on ext4, and nothing on F2FS."""
    return np.where(region == DATA, _LABEL["inode/node"] if ext4 else _UNATTRIBUTED, region)


def _join(found: Pieces, part: Ints, run: Ints) -> Pieces:
    """Put neighbours together that differ in nothing but their place."""
    if not part.size:
        return found
    same = np.ones(part.size - 1, bool)
    for column in (part, run, found.label, found.of, found.vfs_call):
        same &= column[1:] == column[:-1]
    if not same.any():
        return found
    first = np.flatnonzero(np.r_[True, ~same])
    sectors = np.add.reduceat(found.sectors, first)
    return Pieces(*(sectors if name == "sectors" else getattr(found, name)[first] for name in Pieces._fields))
