"""Judge labels of ext4's blocks by bytes: journal, metadata checksums, extents; say what a reused block is.

Constants here and in blockgroups.py are from fs/ext4/ext4.h and Documentation/filesystems/ext4/ of Linux
6.12.
"""

import numpy as np

from analysis.adapters.layouts import DATA, DIRECTORY, INODE, JOURNAL, META
from analysis.content import blockgroups, jbd2
from analysis.content.blockgroups import Geometry, Inodes
from analysis.content.blocks import BLOCK, SECTORS, positions
from analysis.content.findings import COPY, Finding, confirmed, contradicted
from analysis.content.pages import hashes, placed
from analysis.content.units import Evidence
from base.arrays import Ints, at, expand

SEALED = ("filesystem journal",)
_DISTANCE = 32  # bits for a distance in blocks in a key
_ATTRIBUTES = 0xEA020000  # EXT4_XATTR_MAGIC
# Smallest directory entry; types of entries: below EXT4_FT_MAX, and the type of the block's checksum
_ENTRY, _TYPES = 12, (*range(8), 0xDE)


def _journal_of(given: Evidence, geometry: Geometry) -> jbd2.Journal | None:
    """Return the journal's place and features; None if there is none."""
    if "Journal inode" not in given.superblock:
        return None
    number = geometry.number("Journal inode")
    if number not in geometry.inodes:
        return None
    places = geometry.inodes[number][1]
    features = frozenset(given.superblock.get("Journal features", "").split())
    spared = geometry.number("Fast commit length") if "fast_commit" in features else 0
    return jbd2.Journal(places[: places.size - spared], features, (geometry.uuid, bytes(16)))


def read(given: Evidence) -> list[Finding]:
    """Judge the journal, metadata at home, and pages of files by their inodes."""
    geometry = Geometry(given)
    if (
        not geometry.groups.size
        or geometry.number("Block size") != BLOCK
        or geometry.number("Inode size") != blockgroups.INODE
    ):
        return []
    journal = _journal_of(given, geometry)
    logged = jbd2.read(given.blocks, journal) if journal else None
    inodes = _inodes(given, geometry, logged)
    findings = [*_metadata(given, geometry), *_mapped(given, inodes)]
    return [*_journal(given, logged), *_at_home(given, logged), *findings] if logged else findings


def kinds(pages: np.ndarray) -> Ints:
    """Return the label of each block outside the tables, by its bytes; -1: unknown."""
    first, second = (pages[:, at : at + 2].copy().view("<u2")[:, 0] for at in (0, 2))
    most = pages[:, 4:6].copy().view("<u2")[:, 0]
    of_map = (first == blockgroups.EXTENTS) & (second <= most) & (most <= BLOCK // 12)
    attributes = pages[:, :4].copy().view("<u4")[:, 0] == _ATTRIBUTES
    labels = np.where(of_map | attributes, INODE, -1)
    for row in np.flatnonzero(labels < 0).tolist():
        if _is_directory(pages[row].tobytes()):
            labels[row] = DIRECTORY
    return labels


def _is_directory(page: bytes) -> bool:
    """Return whether a block is filled with directory entries."""
    at = 0
    while at + _ENTRY <= len(page):
        length, name = int.from_bytes(page[at + 4 : at + 6], "little"), page[at + 6]
        if length < _ENTRY or length % 4 or name > length - 8 or page[at + 7] not in _TYPES:
            return False
        at += length
    return at == len(page)


def _journal(given: Evidence, logged: jbd2.JournalBlocks) -> list[Finding]:
    """Judge writes to the journal: its own blocks by transaction number, copies by home, CRC and number."""
    units = given.units
    selected = units.labelled("filesystem journal")
    row, commit = units.row[selected], units.commit[selected]
    own, copy = positions(row, logged.rows), positions(row, logged.copies)
    number = np.where(own >= 0, at(logged.numbers, own), at(logged.commits, copy))
    superblock = np.isin(at(logged.kinds, own), (jbd2.SUPERBLOCK_V1, jbd2.SUPERBLOCK))
    other = (number >= 0) & (commit >= 0) & (number != commit) & ~superblock
    home, of, at_home = at(logged.homes, copy), units.of[selected], units.home[selected]
    region = given.layout.label(np.maximum(home, 0) * SECTORS)
    elsewhere = (copy >= 0) & (at_home >= 0) & (at_home != home)
    fixed = (region != DATA) & ~given.layout.may_change(np.maximum(home, 0) * SECTORS)
    elsewhere |= (copy >= 0) & (of >= 0) & fixed & (region != of)
    right, escaped = (copy >= 0) & ~other & ~elsewhere, at(logged.escaped.astype(np.int64), copy) == 1
    whole = np.flatnonzero(units.row >= 0)
    mislaid = whole[positions(units.row[whole], np.r_[logged.rows, logged.copies]) >= 0]
    mislaid = mislaid[units.label[mislaid] != JOURNAL]
    return [
        confirmed("block of the journal itself", selected[(own >= 0) & ~other]),
        confirmed(COPY, selected[right & ~escaped]),
        confirmed("copy with its first word in the tag", selected[right & escaped]),
        contradicted("number of another commit", selected[other]),
        contradicted("tag of another home", selected[elsewhere]),
        contradicted("tag of other bytes", selected[positions(row, logged.broken) >= 0]),
        contradicted("block of the journal under another label", mislaid),
    ]


def _restored(given: Evidence, logged: jbd2.JournalBlocks) -> np.ndarray:
    """Return the bytes of journal copies as they are at home."""
    pages = given.blocks.take(logged.copies)
    pages[logged.escaped, :4] = np.frombuffer(jbd2.MAGIC.to_bytes(4, "big"), np.uint8)
    return pages


def _at_home(given: Evidence, logged: jbd2.JournalBlocks) -> list[Finding]:
    """Judge metadata written home by their copies in the journal."""
    units, blocks = given.units, given.blocks
    hashed = hashes(_restored(given, logged).view(np.uint64))
    selected = np.flatnonzero((units.row >= 0) & np.isin(units.block, logged.homes))
    region, label = given.layout.label(units.block[selected] * SECTORS), units.label[selected]
    outside = blockgroups.of_inodes(blocks.take(units.row[selected])) & (region == DATA) & (label == INODE)
    selected = selected[outside | (region == label)]
    own = hashes(blocks.take(units.row[selected]).view(np.uint64))
    here = np.isin(placed(own, units.block[selected]), placed(hashed, logged.homes)) & (own != 0)
    order = np.lexsort((logged.copies, logged.homes))
    first = order[positions(units.block[selected], logged.homes[order])]
    before = logged.copies[first] < units.row[selected]
    elsewhere = np.isin(own, hashed) & ~here & before & (own != 0)
    return [
        confirmed("copied to the journal before", selected[here]),
        contradicted("copied to the journal as another block", selected[elsewhere]),
    ]


def _inodes(given: Evidence, geometry: Geometry, logged: jbd2.JournalBlocks | None) -> Inodes:
    """Return all inodes that were written, to the journal or home."""
    home = given.blocks.number.copy()
    if logged:
        home[logged.copies] = logged.homes
    rows = np.flatnonzero(geometry.first_inode(home) > 0)
    return blockgroups.inodes(given.blocks, geometry, rows, home[rows])[1]


def _metadata(given: Evidence, geometry: Geometry) -> list[Finding]:
    """Judge metadata at home by their own checksums, whatever their label is."""
    units, blocks = given.units, given.blocks
    own = np.flatnonzero((units.row >= 0) & (units.label != JOURNAL))
    block, row = units.block[own], units.row[own]
    table = np.flatnonzero(geometry.first_inode(block) > 0)
    right, _ = blockgroups.inodes(blocks, geometry, row[table], block[table])
    valid = [("inodes of the place", INODE, own[table[right]])]
    first = np.flatnonzero(block == 0)
    right = blockgroups.superblocks(blocks.take(row[first]))
    valid.append(("superblock", META, own[first[right]]))
    first_group = (block - 1) * (BLOCK // blockgroups.DESCRIPTOR)
    described = np.flatnonzero((block > 0) & (first_group < geometry.groups.shape[0]))
    right = blockgroups.descriptors(blocks.take(row[described]), geometry, first_group[described])
    valid.append(("descriptors of groups", META, own[described[right]]))
    for inode, (generation, places) in geometry.inodes.items():
        of = np.flatnonzero(np.isin(block, places))
        same = np.full(of.size, inode), np.full(of.size, generation)
        right = blockgroups.directories(blocks.take(row[of]), geometry.seed, *same)
        valid.append(("block of a directory", DIRECTORY, own[of[right]]))
    findings = [confirmed(rule, selected[units.label[selected] == label]) for rule, label, selected in valid]
    return findings + [
        contradicted(f"{rule} under another label", selected[units.label[selected] != label])
        for rule, label, selected in valid
    ]


def _mapped(given: Evidence, inodes: Inodes) -> list[Finding]:
    """Confirm pages of files that lie where the extents of their inode map them."""
    units = given.units
    inode, first, place, pages = blockgroups.extents(inodes).T
    # all pages of an extent have the same distance between block and page
    key = (inode << _DISTANCE) + place - first
    order = np.argsort(key, kind="stable")
    selected = np.flatnonzero(units.placed & (units.label != JOURNAL))
    page = units.offset[selected] // BLOCK
    wanted = (units.inode[selected] << _DISTANCE) + units.block[selected] - page
    begin, end = (np.searchsorted(key[order], wanted, side) for side in ("left", "right"))
    of, extent = expand(begin, end - begin)
    extent = order[extent]
    inside = (page[of] >= first[extent]) & (page[of] < first[extent] + pages[extent])
    return [confirmed("page that its inode has there", selected[np.unique(of[inside])], by_place=True)]
