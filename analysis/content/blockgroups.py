"""Recognise ext4's metadata in written blocks by its checksums: superblock, inodes, directories, extents.

superblock.txt, groups.txt and inodes.txt give the place of the groups' tables, and the inode of each block.
Checksums are CRC-32C, seeded with the filesystem's UUID and the block's owner, so they hold at one place
only. All numbers are little-endian. Their source is named in the filesystem's module.
"""

import re
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

import numpy as np

from analysis.adapters.layouts import ext4
from analysis.content.blocks import BLOCK, Blocks, every, some
from analysis.content.crc import Words, crc32c
from analysis.content.units import Evidence
from analysis.run_files.reading import integer
from base.arrays import Bools, Ints
from base.errors import FileError

ALL = 0xFFFFFFFF
INODE = 256  # bytes
_EACH = BLOCK // INODE
_SUPERBLOCK, _SEALED = 1024, 1020  # its offset in block 0, and its bytes before its checksum
DESCRIPTOR = 64  # bytes, with the feature 64bit
_DIRECTORY_TAIL = 0xDE00000C  # rec_len 12, name_len 0, file_type 0xDE: ext4_dir_entry_tail
EXTENTS = 0xF30A
_ORPHANS = 0x0B10CA04  # EXT4_ORPHAN_BLOCK_MAGIC


class Inodes(NamedTuple):
    """Inodes with a valid checksum: the writing, the inode's number and its 256 bytes."""

    row: Ints
    number: Ints
    raw: np.ndarray


class Geometry:
    """The places of a filesystem's metadata, and the seeds of its checksums."""

    def __init__(self, given: Evidence) -> None:
        self._given = given
        self._superblock = given.board / "superblock.txt"

    def number(self, name: str) -> int:
        """Return a number of the superblock. Raises FileError."""
        return integer(self._superblock, 0, name, self._given.superblock.get(name, ""))

    @cached_property
    def uuid(self) -> bytes:
        """The filesystem's UUID."""
        text = self._given.superblock.get("Filesystem UUID", "")
        if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text):
            raise FileError(self._superblock, "Filesystem UUID", repr(text), "a UUID")
        return UUID(text).bytes

    @cached_property
    def seed(self) -> int:
        """The seed of the checksums."""
        text = self._given.superblock.get("Checksum seed")
        if text is None:
            return int(crc32c(np.frombuffer(self.uuid, np.uint8)[None], ALL)[0])
        if not re.fullmatch(r"0x[0-9a-f]{1,8}", text):
            raise FileError(self._superblock, "Checksum seed", repr(text), "a number of 32 bits")
        return int(text, 16)

    @cached_property
    def groups(self) -> Ints:
        """(groups, 3): blocks of the block bitmap and the inode bitmap, first block of the inode table."""
        listed = ext4.groups(self._given.board / "groups.txt")
        rows = [(group.block_bitmap, group.inode_bitmap, group.inodes) for group in listed]
        return np.array(rows, np.int64).reshape(-1, 3)

    @cached_property
    def inodes(self) -> dict[int, tuple[int, Ints]]:
        """Inode → generation and blocks in order, for the inodes in inodes.txt."""
        path, count = self._given.board / "inodes.txt", self.number("Block count")
        result = {}
        for inode in ext4.inodes(path):
            extents = [extent for extent in inode.extents if extent.written and not extent.of_map]
            if beyond := [extent for extent in extents if extent.first + extent.blocks > count]:
                wrong = f"inode {inode.number} has blocks from {beyond[0].first} on"
                raise FileError(path, "", wrong, f"blocks below the superblock's {count}")
            if inode.generation is not None and extents:
                places = [np.arange(extent.first, extent.first + extent.blocks) for extent in extents]
                result[inode.number] = inode.generation, np.concatenate(places)
        return result

    def first_inode(self, block: Ints) -> Ints:
        """Return the number of the first inode in each block of an inode table, 0 for any other block."""
        tables, order = self.groups[:, 2], np.argsort(self.groups[:, 2])
        group = order[np.maximum(np.searchsorted(tables[order], block, side="right") - 1, 0)]
        since = block - tables[group]
        inside = (since >= 0) & (since < self.number("Inode blocks per group"))
        return np.where(inside, group * self.number("Inodes per group") + since * _EACH + 1, 0)


def _seeds(seed: int | Words, *numbers: np.ndarray) -> Words:
    """Return the seed of each row, continued with 32-bit numbers of that row."""
    for number in numbers:
        raw = np.ascontiguousarray(number, "<u4").view(np.uint8).reshape(-1, 4)
        seed = crc32c(raw, seed)
    return np.asarray(seed, np.uint32)


def _word(rows: np.ndarray, at: int) -> Words:
    """Return the 16-bit number at an offset in each row of bytes."""
    return rows[:, at : at + 2].copy().view("<u2")[:, 0].astype(np.uint32)


def inodes(blocks: Blocks, geometry: Geometry, rows: Ints, block: Ints) -> tuple[Bools, Inodes]:
    """Return which writings of inode table blocks hold only inodes of their place, and these inodes.

    block: where each writing belongs.
    """
    raw = blocks.take(rows).reshape(-1, INODE)
    number = (geometry.first_inode(block)[:, None] + np.arange(_EACH)).ravel()
    used = raw.any(axis=1)
    selected = np.flatnonzero(used)
    part = raw[selected]
    low, high = (_word(part, at) for at in (0x7C, 0x82))
    # the upper half of the checksum exists if the inode has room for it
    whole = _word(part, 0x80) >= 4
    part[:, 0x7C:0x7E] = 0
    part[whole, 0x82:0x84] = 0
    seed = _seeds(geometry.seed, number[selected], part[:, 0x64:0x68].copy().view("<u4")[:, 0])
    stored = np.where(whole, low | high << np.uint32(16), low)
    true = (crc32c(part, seed) & np.where(whole, ALL, 0xFFFF).astype(np.uint32)) == stored
    wrong = np.zeros(raw.shape[0], bool)
    wrong[selected[~true]] = True
    each = ~some(wrong.reshape(-1, _EACH)) & some(used.reshape(-1, _EACH))
    return each, Inodes(rows[selected[true] // _EACH], number[selected[true]], part[true])


def superblocks(pages: np.ndarray) -> np.ndarray:
    """Return which blocks are the superblock after the boot block."""
    raw = np.ascontiguousarray(pages[:, _SUPERBLOCK : _SUPERBLOCK + 1024])
    stored = raw[:, _SEALED:].copy().view("<u4")[:, 0]
    return np.asarray(
        (raw[:, 0x38:0x3A].copy().view("<u2")[:, 0] == 0xEF53) & (crc32c(raw[:, :_SEALED], ALL) == stored)
    )


def descriptors(pages: np.ndarray, geometry: Geometry, first: Ints) -> np.ndarray:
    """Return which blocks hold group descriptors. `first` is the number of the first group in each."""
    each = BLOCK // DESCRIPTOR
    raw = pages.reshape(-1, DESCRIPTOR).copy()
    number = (first[:, None] + np.arange(each)).ravel()
    used = number < geometry.groups.shape[0]
    stored = raw[:, 0x1E:0x20].copy().view("<u2")[:, 0]
    raw[:, 0x1E:0x20] = 0
    true = (crc32c(raw, _seeds(geometry.seed, number)) & 0xFFFF) == stored
    return every((true | ~used).reshape(-1, each))


def directories(pages: np.ndarray, seed: int, inode: Ints, generation: Ints) -> np.ndarray:
    """Return which blocks end with the checksum of a directory block of that inode."""
    tail = pages[:, -12:].copy().view("<u4")
    true = (tail[:, 0] == 0) & (tail[:, 1] == _DIRECTORY_TAIL)
    return np.asarray(true & (crc32c(pages[:, :-12], _seeds(seed, inode, generation)) == tail[:, 2]))


def of_inodes(pages: np.ndarray) -> Bools:
    """Return which blocks belong to an inode outside its table: an extent tree, or the orphan file."""
    tree, orphans = _word(pages, 0) == EXTENTS, pages[:, -8:-4].copy().view("<u4")[:, 0] == _ORPHANS
    return np.asarray(tree | orphans)


def extents(inodes: Inodes) -> Ints:
    """Return (inode, first page, first block, pages) of the extents stored in inodes.

    Each extent has its greatest length, as it grows with its file.
    """
    tree = np.ascontiguousarray(inodes.raw[:, 0x28:0x64])
    head = tree[:, :8].copy().view("<u2")
    leaf = np.flatnonzero((head[:, 0] == EXTENTS) & (head[:, 3] == 0))
    entries = tree[leaf, 12:].reshape(-1, 4, 12)
    exists = np.arange(4) < head[leaf, 1][:, None]
    words = entries.copy().view("<u2").reshape(-1, 4, 6).astype(np.int64)[exists]
    inode = np.repeat(inodes.number[leaf], 4).reshape(-1, 4)[exists]
    length = np.where(words[:, 2] > 32768, words[:, 2] - 32768, words[:, 2])  # unwritten extent
    place = words[:, 3] << 32 | words[:, 5] << 16 | words[:, 4]
    table = np.stack([inode, words[:, 1] << 16 | words[:, 0], place, length], axis=1)
    table = table[np.lexsort(table.T[::-1])]
    longest = np.r_[(table[1:, :3] != table[:-1, :3]).any(axis=1), True][: table.shape[0]]
    return np.asarray(table[longest])
