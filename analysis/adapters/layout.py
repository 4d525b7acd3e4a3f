"""raw/board/: where the filesystem keeps what on the device, as its own tools printed it.

ext4: `groups.txt` (dumpe2fs -g) and `inodes.txt` (debugfs' `stat` of the journal's inode and of
every directory); F2FS: the superblock that dump.f2fs prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import BadInput
from analysis.files import integer, read_text
from analysis.ledger.arrays import Ints
from analysis.ledger.schema import LABELS

SECTOR = 512
DATA = -1  # a region whose blocks belong to files
_GROUPS = "group:block:super:gdt:bbitmap:ibitmap:itable"
_META, _INODE, _JOURNAL, _DIRECTORY, _PACK = (
    LABELS.index(label)
    for label in (
        *("bitmap/SIT/NAT/superblock", "inode/node", "filesystem journal"),
        *("directory", "checkpoint pack"),
    )
)
# debugfs: (logical[-logical][u]):physical[-physical], or the name of a block of the map itself
_EXTENT = re.compile(r"\(([A-Z]+[0-9]*|[0-9]+(?:-[0-9]+)?(?:\[u\])?)\):([0-9]+)(?:-([0-9]+))?")


@dataclass(frozen=True)
class Layout:
    """The device as regions, each from its start up to the next one's."""

    filesystem: str
    starts: Ints  # first sector of each region, ascending from 0
    labels: Ints  # place in schema.LABELS of what is written there, or DATA

    def label(self, sectors: Ints) -> Ints:
        """Return the label of the region of each sector, or DATA."""
        found: Ints = self.labels[np.searchsorted(self.starts, sectors, side="right") - 1]
        return found


def _layout(filesystem: str, regions: list[tuple[int, int, int]], block_size: int) -> Layout:
    """Make a Layout of (first block, blocks, label); later regions lie over earlier ones."""
    edges = np.array(sorted({0, *(edge for first, n, _ in regions for edge in (first, first + n))}))
    labels = np.full(edges.size, DATA, np.int64)
    for first, blocks, label in regions:
        labels[np.searchsorted(edges, first) : np.searchsorted(edges, first + blocks)] = label
    return Layout(filesystem, edges * (block_size // SECTOR), labels)


def read(board: Path, filesystem: str, superblock: dict[str, str]) -> Layout:
    """Return the layout of the filesystem under test. Raises BadInput."""
    return _ext4(board, superblock) if filesystem == "ext4" else _f2fs(board, superblock)


def _f2fs(board: Path, superblock: dict[str, str]) -> Layout:
    path = board / "superblock.txt"

    def number(name: str) -> int:
        text = superblock.get(name, "").partition(":")[2].strip()
        return integer(path, 0, name, text)

    at = {name: number(f"{name}_blkaddr") for name in ("cp", "sit", "main")}
    regions = [
        (0, at["cp"], _META),
        (at["cp"], at["sit"] - at["cp"], _PACK),
        (at["sit"], at["main"] - at["sit"], _META),
    ]
    return _layout("f2fs", regions, 1 << number("log_blocksize"))


def _ext4(board: Path, superblock: dict[str, str]) -> Layout:
    def number(name: str, default: str = "") -> int:
        return integer(board / "superblock.txt", 0, name, superblock.get(name, default))

    table, reserved = number("Inode blocks per group"), number("Reserved GDT blocks", "0")
    regions: list[tuple[int, int, int]] = []
    for line, row in _group_rows(board / "groups.txt"):
        place = [[integer(board / "groups.txt", line, "a block", part) for part in field] for field in row]
        superblock_at, descriptors, *bitmaps, inodes = place[2:]
        regions += [(block[0], 1, _META) for block in (superblock_at, *bitmaps) if block[0] >= 0]
        if descriptors[0] >= 0:
            regions.append((descriptors[0], descriptors[-1] - descriptors[0] + 1 + reserved, _META))
        regions.append((inodes[0], table, _INODE))
    journal = superblock.get("Journal inode")
    for inode, first, blocks in _extents(board / "inodes.txt"):
        regions.append((first, blocks, _JOURNAL if str(inode) == journal else _DIRECTORY))
    return _layout("ext4", regions, number("Block size"))


def _group_rows(path: Path) -> list[tuple[int, list[list[str]]]]:
    """Return (line number, fields), a field being a block or the two ends of a range."""
    lines = read_text(path).splitlines()
    if _GROUPS not in lines:
        raise BadInput(path, "", "no table of block groups", _GROUPS)
    rows = []
    for number, line in enumerate(lines[lines.index(_GROUPS) + 1 :], lines.index(_GROUPS) + 2):
        fields = [re.findall(r"(?:^-)?[0-9]+", field) for field in line.split(":")]
        if len(fields) != _GROUPS.count(":") + 1 or not all(fields):
            raise BadInput(path, f"line {number}", f"{line[:80]!r}", _GROUPS)
        rows.append((number, fields))
    return rows


def _extents(path: Path) -> list[tuple[int, int, int]]:
    """Return (inode, first block, blocks) of the data of each inode that `stat` was asked for."""
    found, inode = [], None
    for line in read_text(path).splitlines():
        if head := re.match(r"Inode: ([0-9]+) +Type:", line):
            inode = int(head.group(1))
        elif inode is not None and line.startswith("("):
            for where, first, last in _EXTENT.findall(line):
                if where[0].isdigit():
                    found.append((inode, int(first), int(last or first) - int(first) + 1))
    if not found:
        raise BadInput(path, "", "no blocks of any inode", "debugfs' stat of each inode")
    return found
