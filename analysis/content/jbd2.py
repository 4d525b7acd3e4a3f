"""Parse the writes to a jbd2 journal: descriptors, commits, and the metadata copies with their home blocks.

From include/linux/jbd2.h and fs/jbd2/commit.c of Linux 6.12. All numbers are big-endian. A descriptor's tags
give the home of each block that follows it in the journal. With the feature checksum_v3 each tag has the CRC
of its copy, seeded with the journal's UUID and the transaction's number. The block layer sorts by sector:
where the log wraps around, copies may be issued before their descriptor. They are issued after the previous
commit, and before their own.
"""

from dataclasses import dataclass

import numpy as np

from analysis.content.blocks import BLOCK, Blocks, positions
from analysis.content.crc import crc32c
from base.arrays import Ints, at, expand

MAGIC = 0xC03B3998
DESCRIPTOR, COMMIT, SUPERBLOCK_V1, SUPERBLOCK, REVOKE = range(1, 6)
_ESCAPED, _LAST = 1, 8  # flags of a tag
_HEADER, _UUID, _TAIL = 12, 16, BLOCK - 4
_CHECKSUM = 16  # commit_header.h_chksum
_ALL = 0xFFFFFFFF


@dataclass(frozen=True)
class Journal:
    """The journal's place and superblock fields. Log block i is block `places[i]` of the device."""

    places: Ints
    features: frozenset[str]  # as dumpe2fs names them
    uuids: tuple[bytes, ...]  # the journal's is one of these

    @property
    def checksums(self) -> bool:
        """Whether blocks and tags have a CRC."""
        return "journal_checksum_v3" in self.features


@dataclass(frozen=True)
class JournalBlocks:
    """All writings in the journal, over time."""

    rows: Ints  # writings of the journal's own blocks
    kinds: Ints
    numbers: Ints  # their transaction
    copies: Ints  # writings of copies, with a valid CRC where tags have one
    homes: Ints  # their block
    commits: Ints
    broken: Ints  # writings of copies that do not match their tag
    escaped: np.ndarray  # which copies have zeros instead of a first word equal to the magic


def read(blocks: Blocks, journal: Journal) -> JournalBlocks:
    """Read everything that was written to the journal."""
    rows = np.flatnonzero(np.isin(blocks.number, journal.places))
    head = blocks.words(rows, 0, 3, ">u4").astype(np.int64)
    own = (head[:, 0] == MAGIC) & (head[:, 1] >= DESCRIPTOR) & (head[:, 1] <= REVOKE)
    rows, kinds, numbers = rows[own], head[own, 1], head[own, 2]
    seed = _seed(blocks, journal, rows[kinds == DESCRIPTOR])
    if journal.checksums:
        true = np.isin(kinds, (SUPERBLOCK_V1, SUPERBLOCK))
        for selected, place in (((DESCRIPTOR, REVOKE), _TAIL), ((COMMIT,), _CHECKSUM)):
            checked = np.flatnonzero(np.isin(kinds, selected))
            true[checked] = _sealed(blocks.take(rows[checked]), place, seed)
        rows, kinds, numbers = rows[true], kinds[true], numbers[true]
    described = kinds == DESCRIPTOR
    ends = rows[kinds == COMMIT]
    copies = _copies(blocks, journal, seed, rows[described], numbers[described], ends)
    return JournalBlocks(rows, kinds, numbers, *copies)


def _seed(blocks: Blocks, journal: Journal, descriptors: Ints) -> int:
    """Return the seed of the journal's CRCs: from the UUID that makes its descriptors valid."""
    pages = blocks.take(descriptors[:1])
    seeds = [int(crc32c(np.frombuffer(uuid, np.uint8)[None], _ALL)[0]) for uuid in journal.uuids]
    return next((seed for seed in seeds if _sealed(pages, _TAIL, seed).any()), seeds[0])


def _sealed(pages: np.ndarray, place: int, seed: int) -> np.ndarray:
    """Return which blocks have a valid CRC at an offset, computed with zeros there."""
    stored = pages[:, place : place + 4].copy().view(">u4")[:, 0]
    pages[:, place : place + 4] = 0
    return np.asarray(crc32c(pages, seed) == stored)


def _copies(
    blocks: Blocks, journal: Journal, seed: int, descriptors: Ints, numbers: Ints, commits: Ints
) -> tuple[Ints, Ints, Ints, Ints, np.ndarray]:
    """Follow the tags of descriptors to the copies in the log after them: JournalBlocks from `copies` on."""
    tag, home, flags, check = _tags(blocks.take(descriptors), journal)
    of = positions(blocks.number[descriptors], journal.places)
    first = np.flatnonzero(np.diff(tag, prepend=-1))
    nth = np.arange(tag.size) - first[np.searchsorted(first, np.arange(tag.size), side="right") - 1]
    place = of[tag] + 1 + nth
    # the log wraps around to the block after the superblock
    place = (place - 1) % max(journal.places.size - 1, 1) + 1
    # commits are one after another: a descriptor's is the next
    after = np.searchsorted(commits, descriptors[tag])
    begin, end = np.r_[-1, commits][after], np.r_[commits, blocks.number.size][after]
    row = _last_before(blocks, journal.places[place], end)
    row = np.where(row > begin, row, -1)
    complete = np.flatnonzero(row >= 0)
    tag, home, flags, check, row = (column[complete] for column in (tag, home, flags, check, row))
    true = np.ones(row.size, bool)
    if journal.checksums:
        number = numbers[tag].astype(">u4").view(np.uint8).reshape(-1, 4)
        true = crc32c(blocks.take(row), crc32c(number, seed)) == check
    return row[true], home[true], numbers[tag][true], row[~true], (flags[true] & _ESCAPED) > 0


def _tags(pages: np.ndarray, journal: Journal) -> tuple[Ints, Ints, Ints, np.ndarray]:
    """Return (place of the descriptor, home, flags, CRC) of each tag.

    A tag is a journal_block_tag3_t with checksum_v3, else a journal_block_tag_t, with checksum_v2 two bytes
    longer (journal_tag_bytes of fs/jbd2/journal.c). The UUID follows the first.
    """
    large = "journal_64bit" in journal.features
    size = 16 if journal.checksums else (12 if large else 8) + 2 * ("journal_checksum_v2" in journal.features)
    room = (_TAIL - _HEADER - _UUID) // size
    offset = _HEADER + np.arange(room) * size + np.where(np.arange(room) > 0, _UUID, 0)
    raw = pages[:, offset[:, None] + np.arange(size)]
    low, second = (raw[:, :, part : part + 4].copy().view(">u4")[..., 0] for part in (0, 4))
    flags = second if journal.checksums else second & 0xFFFF
    last = (flags & _LAST) > 0
    count = np.where(last.any(axis=1), last.argmax(axis=1) + 1, 0)
    tag, nth = expand(np.zeros(count.size, np.int64), count)
    home = low[tag, nth].astype(np.int64)
    if large:
        home |= raw[:, :, 8:12].copy().view(">u4")[..., 0][tag, nth].astype(np.int64) << 32
    check = raw[:, :, 12:16].copy().view(">u4")[..., 0][tag, nth] if journal.checksums else home
    return tag, home, flags[tag, nth].astype(np.int64), check


def _last_before(blocks: Blocks, number: Ints, row: Ints) -> Ints:
    """Return the last writing of each block before another writing, -1 if there is none."""
    order = np.lexsort((np.arange(blocks.number.size), blocks.number))
    key = (blocks.number[order] << 32) | order
    found = at(key, np.searchsorted(key, (number << 32) | row) - 1)
    return np.where((found >> 32 == number) & (found >= 0), found & _ALL, -1)
