"""Parse block groups (groups.txt, of dumpe2fs -g) and inodes (inodes.txt, of debugfs' `stat`)."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.run_files.reading import SHOWN, integer, read_text
from base.errors import FileError

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
