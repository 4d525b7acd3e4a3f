"""Locate the superblocks, bitmaps, inodes, journal and directories of ext4, from the output of e2fsprogs.

`superblock.txt` is dumpe2fs -h, `groups.txt` dumpe2fs -g, and `inodes.txt` debugfs' `stat` of the journal's
inode, of the orphan file, and of each directory and file.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.adapters.layouts import DIRECTORY, INODE, JOURNAL, META, Layout, of_regions
from analysis.run_files.reading import SHOWN, integer, read_text
from base.errors import FileError
from model.filesystems import Superblock

_HEADER = "group:block:super:gdt:bbitmap:ibitmap:itable"
# debugfs: (logical[-logical][u]):physical[-physical], or the name of a block of the map itself
_EXTENT = re.compile(r"\(([A-Z]+[0-9]*|[0-9]+(?:-[0-9]+)?(?:\[u\])?)\):([0-9]+)(?:-([0-9]+))?")


class Group(NamedTuple):
    """The blocks of a group's structures; -1: missing in this group."""

    superblock: int
    descriptors: tuple[int, int]  # the first block and the last
    block_bitmap: int
    inode_bitmap: int
    inodes: int  # the first block of its table


class Extent(NamedTuple):
    """A range of blocks of an inode."""

    first: int
    blocks: int
    of_map: bool  # the inode's block map or extended attributes, not data
    written: bool  # False: only allocated


@dataclass
class Inode:
    """An inode as `stat` shows it."""

    number: int
    directory: bool
    generation: int | None = None
    extents: list[Extent] = field(default_factory=list)


def groups(path: Path) -> list[Group]:
    """Return the table of groups.txt. Raises FileError."""
    lines = read_text(path).splitlines()
    if _HEADER not in lines:
        raise FileError(path, "", "no table of block groups", _HEADER)
    result = []
    for place, line in enumerate(lines[lines.index(_HEADER) + 1 :], lines.index(_HEADER) + 2):
        fields = [re.findall(r"(?:^-)?[0-9]+", field) for field in line.split(":")]
        if len(fields) != _HEADER.count(":") + 1 or not all(fields):
            raise FileError(path, f"line {place}", repr(line[:SHOWN]), _HEADER)
        blocks = [[integer(path, place, "a block", block) for block in field] for field in fields[2:]]
        superblock, descriptors, block_bitmap, inode_bitmap, inodes = blocks
        ends = descriptors[0], descriptors[-1]
        result.append(Group(superblock[0], ends, block_bitmap[0], inode_bitmap[0], inodes[0]))
    return result


def inodes(path: Path) -> list[Inode]:
    """Return the inodes of inodes.txt that have blocks. Raises FileError."""
    result: list[Inode] = []
    for place, line in enumerate(read_text(path).splitlines(), 1):
        if head := re.match(r"Inode: ([0-9]+) +Type: (\w+)", line):
            result.append(Inode(integer(path, place, "an inode", head[1]), head[2] == "directory"))
        elif not result:
            continue
        elif generation := re.match(r"Generation: ([0-9]+)", line):
            result[-1].generation = integer(path, place, "a generation", generation[1])
        elif attributes := re.match(r"File ACL: ([1-9][0-9]*)", line):
            block = integer(path, place, "a block", attributes[1])
            result[-1].extents.append(Extent(block, 1, of_map=True, written=True))
        elif line.startswith("("):
            result[-1].extents += _extents(path, place, line)
    if not any(inode.extents for inode in result):
        raise FileError(path, "", "no blocks of any inode", "debugfs' stat of each inode")
    return [inode for inode in result if inode.extents]


def _extents(path: Path, place: int, line: str) -> list[Extent]:
    """Return the extents of a line. Raises FileError."""
    parts = [_EXTENT.fullmatch(part) for part in line.rstrip(", ").split(", ")]
    result = []
    for part in parts:
        if part is None:
            raise FileError(path, f"line {place}", repr(line[:SHOWN]), "(page-page):block-block, …")
        where, *ends = part.groups()
        first, last = (integer(path, place, "a block", end or ends[0]) for end in ends)
        if last < first:
            raise FileError(path, f"line {place}", f"blocks from {first} to {last}", "the first one first")
        result.append(Extent(first, last - first + 1, not where[0].isdigit(), "[u]" not in where))
    return result


_LOST_FOUND = 11  # EXT2_GOOD_OLD_FIRST_INO


def layout(board: Path, superblock: Superblock) -> Layout:
    def field(name: str, default: str = "") -> int:
        return integer(board / "superblock.txt", 0, name, superblock.get(name, default))

    table, reserved = field("Inode blocks per group"), field("Reserved GDT blocks", "0")
    regions: list[tuple[int, int, int]] = []
    for group in groups(board / "groups.txt"):
        single = group.superblock, group.block_bitmap, group.inode_bitmap
        regions += [(block, 1, META) for block in single if block >= 0]
        first, last = group.descriptors
        if first >= 0:
            regions.append((first, last - first + 1 + reserved, META))
        regions.append((group.inodes, table, INODE))
    # 0 is not an inode
    journal, orphans = field("Journal inode", "0"), field("Orphan file inode", "0")
    listed = inodes(board / "inodes.txt")
    extents = [(inode, extent) for inode in listed for extent in inode.extents]
    regions += [
        (extent.first, extent.blocks, JOURNAL)
        for inode, extent in extents
        if inode.number == journal and not extent.of_map
    ]
    _check_overhead(board, superblock, field, sum(blocks for _, blocks, _ in regions))
    changing = set()
    for inode, extent in extents:
        if not (extent.of_map or inode.directory or inode.number == orphans):
            continue
        label = DIRECTORY if inode.directory and not extent.of_map else INODE
        regions.append((extent.first, extent.blocks, label))
        if inode.number not in (journal, orphans):
            changing.add(extent.first)
    if orphans and orphans not in {inode.number for inode in listed}:
        regions.append(_orphans_of_mkfs(listed, superblock, field("Block count")))
    return of_regions("ext4", sorted(set(regions)), field("Block size"), changing)


def _check_overhead(board: Path, superblock: Superblock, field: Callable[[str], int], blocks: int) -> None:
    """Raise FileError unless the blocks without files are as many as the kernel counted when it mounted.

    ext4_calculate_overhead writes that number into the superblock. Two features change its rule.
    """
    if {"bigalloc", "meta_bg"} & set(superblock.get("Filesystem features", "").split()):
        return
    counted = field("Overhead clusters") - field("First block")
    if blocks != counted:
        wrong = f"the groups' tables and the journal have {blocks} blocks"
        raise FileError(board / "groups.txt", "", wrong, f"the superblock's {counted}")


def _orphans_of_mkfs(inodes: list[Inode], superblock: Superblock, count: int) -> tuple[int, int, int]:
    """Return the region of the orphan file: behind lost+found and a block of the resize inode.

    For runs with an inodes.txt of only the journal and the directories. See misc/mke2fs.c and
    ext2fs_default_orphan_file_blocks of lib/ext2fs/orphan.c in e2fsprogs.
    """
    extents = [extent for inode in inodes if inode.number == _LOST_FOUND for extent in inode.extents]
    end = max((extent.first + extent.blocks for extent in extents), default=0)
    has_resize_inode = "resize_inode" in superblock.get("Filesystem features", "")
    return end + has_resize_inode, min(max(count // 4096, 32), 512), INODE
