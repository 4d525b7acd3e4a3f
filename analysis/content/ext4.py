"""ext4: its journal, metadata by their checksums or by the copy in the journal, and its own map of files.

Documentation/filesystems/ext4/ of Linux 6.12. All numbers are little-endian; checksums are CRC-32C, seeded
with the filesystem's UUID and what the block is of.
"""

from __future__ import annotations

import numpy as np

from analysis.adapters.layout import DATA, JOURNAL
from analysis.content import blockgroups, jbd2
from analysis.content.blockgroups import Geometry, Inodes
from analysis.content.blocks import BLOCK, SECTORS
from analysis.content.evidence import Evidence
from analysis.content.pages import hashes, placed
from analysis.content.verdicts import Said, confirmed, contradicted
from analysis.ledger.arrays import Ints, at, expand

_OWN = ("inode/node", "bitmap/SIT/NAT/superblock", "directory")


def _journal_of(given: Evidence, geometry: Geometry) -> jbd2.Journal | None:
    """Return where the journal is; None where there is none."""
    number = given.superblock.get("Journal inode", "")
    if not number.isdigit() or int(number) not in geometry.inodes:
        return None
    places = geometry.inodes[int(number)][1]
    features = frozenset(given.superblock.get("Journal features", "").split())
    spared = geometry.number("Fast commit length") if "fast_commit" in features else 0
    return jbd2.Journal(places[: places.size - spared], features, (geometry.uuid, bytes(16)))


def read(given: Evidence) -> list[Said]:
    """Judge the journal, metadata where they belong, and files' pages by their inodes."""
    geometry = Geometry(given)
    if geometry.number("Block size") != BLOCK or geometry.number("Inode size") != blockgroups.INODE:
        return []
    journal = _journal_of(given, geometry)
    found = jbd2.find(given.blocks, journal) if journal else None
    inodes = _inodes(given, geometry, found)
    said = [*_metadata(given, geometry, found), *_mapped(given, inodes)]
    return [*_journal(given, found), *_at_home(given, found), *said] if found else said


def _journal(given: Evidence, found: jbd2.Found) -> list[Said]:
    """Judge what was written to the journal: own blocks by number, copies by home, CRC and number."""
    units = given.units
    logged = units.labelled("filesystem journal")
    row, commit = units.row[logged], units.commit[logged]
    own, copy = _join(row, found.rows), _join(row, found.copies)
    number = np.where(own >= 0, at(found.numbers, own), at(found.commits, copy))
    superblock = np.isin(at(found.kinds, own), (jbd2.SUPERBLOCK_V1, jbd2.SUPERBLOCK))
    other = (number >= 0) & (commit >= 0) & (number != commit) & ~superblock
    home, of, at_home = at(found.homes, copy), units.of[logged], units.home[logged]
    region = given.layout.label(np.maximum(home, 0) * SECTORS)
    elsewhere = (copy >= 0) & (at_home >= 0) & (at_home != home)
    elsewhere |= (copy >= 0) & (of >= 0) & (region != DATA) & (region != of)
    whole = np.flatnonzero(units.row >= 0)
    mislaid = whole[_join(units.row[whole], np.r_[found.rows, found.copies]) >= 0]
    mislaid = mislaid[units.label[mislaid] != JOURNAL]
    return [
        confirmed("block of the journal itself", logged[(own >= 0) & ~other]),
        confirmed("copy that a tag of the journal names", logged[(copy >= 0) & ~other & ~elsewhere]),
        contradicted("number of another commit", logged[other]),
        contradicted("tag of another home", logged[elsewhere]),
        contradicted("tag of other bytes", logged[_join(row, found.broken) >= 0]),
        contradicted("block of the journal under another label", mislaid),
    ]


def _join(values: Ints, among: Ints) -> Ints:
    """Return the place of each value among others, -1 if it is not there."""
    if not among.size:
        return np.full(values.size, -1, np.int64)
    order = np.argsort(among, kind="stable")
    place = order[np.minimum(np.searchsorted(among[order], values), among.size - 1)]
    return np.where(among[place] == values, place, -1)


def _restored(given: Evidence, found: jbd2.Found) -> np.ndarray:
    """Return the bytes of copies as they are at home."""
    pages = given.blocks.take(found.copies)
    pages[found.escaped, :4] = np.frombuffer(jbd2.MAGIC.to_bytes(4, "big"), np.uint8)
    return pages


def _at_home(given: Evidence, found: jbd2.Found) -> list[Said]:
    """Confirm what was written home as it was copied to the journal."""
    units, blocks = given.units, given.blocks
    known = placed(hashes(_restored(given, found).view(np.uint64)), found.homes)
    which = np.flatnonzero((units.row >= 0) & (units.label != JOURNAL))
    which = which[np.isin(units.block[which], found.homes)]
    hashed = hashes(blocks.take(units.row[which]).view(np.uint64))
    same = np.isin(placed(hashed, units.block[which]), known) & (hashed != 0)
    return [confirmed("copied to the journal before", which[same])]


def _inodes(given: Evidence, geometry: Geometry, found: jbd2.Found | None) -> Inodes:
    """Return all inodes that were written, to the journal or home."""
    home = given.blocks.number.copy()
    if found:
        home[found.copies] = found.homes
    rows = np.flatnonzero(geometry.first_inode(home) > 0)
    return blockgroups.inodes(given.blocks, geometry, rows, home[rows])[1]


def _metadata(given: Evidence, geometry: Geometry, found: jbd2.Found | None) -> list[Said]:
    """Judge metadata where they belong, by their own checksums."""
    units, blocks = given.units, given.blocks
    own = units.labelled(*_OWN)
    block, row = units.block[own], units.row[own]
    table = np.flatnonzero(geometry.first_inode(block) > 0)
    right, _ = blockgroups.inodes(blocks, geometry, row[table], block[table])
    said = [confirmed("inodes of the place", own[table[right]])]
    first = np.flatnonzero(block == 0)
    right = blockgroups.superblocks(blocks.take(row[first]))
    said.append(confirmed("superblock", own[first[right]]))
    groups = geometry.groups
    first_group = (block - 1) * (BLOCK // 64)
    described = np.flatnonzero((block > 0) & (first_group < groups.shape[0]))
    right = blockgroups.descriptors(blocks.take(row[described]), geometry, first_group[described])
    said.append(confirmed("descriptors of groups", own[described[right]]))
    for inode, (generation, places) in geometry.inodes.items():
        of = np.flatnonzero(np.isin(block, places))
        same = np.full(of.size, inode), np.full(of.size, generation)
        right = blockgroups.directories(blocks.take(row[of]), geometry.seed, *same)
        said.append(confirmed("block of a directory", own[of[right]]))
    return said


def _mapped(given: Evidence, inodes: Inodes) -> list[Said]:
    """Confirm pages of files where the extents of their inode have them."""
    units = given.units
    table = blockgroups.extents(inodes)
    which = np.flatnonzero(units.placed & (units.label != JOURNAL))
    first = np.searchsorted(table[:, 0], units.inode[which])
    count = np.searchsorted(table[:, 0], units.inode[which], side="right") - first
    of, extent = expand(first, count)
    since = units.offset[which[of]] // BLOCK - table[extent, 1]
    there = (since >= 0) & (since < table[extent, 2])
    there &= table[extent, 3] + since == units.block[which[of]]
    return [confirmed("page that its inode has there", which[np.unique(of[there])])]
