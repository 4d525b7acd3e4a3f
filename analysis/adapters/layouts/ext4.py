"""Locate the superblocks, bitmaps, inodes, journal and directories of ext4, from the output of e2fsprogs.

`superblock.txt` is dumpe2fs -h, `groups.txt` dumpe2fs -g, and `inodes.txt` debugfs' `stat` of the journal's
inode, of the orphan file, and of each directory and file.
"""

from collections.abc import Callable
from pathlib import Path

from analysis.adapters import e2fsprogs
from analysis.adapters.e2fsprogs import Inode
from analysis.adapters.layout import DIRECTORY, INODE, JOURNAL, META, Layout, of_regions
from analysis.run_files.reading import integer
from base.errors import FileError
from model.filesystems import Superblock

_LOST_FOUND = 11  # EXT2_GOOD_OLD_FIRST_INO


def layout(board: Path, superblock: Superblock) -> Layout:
    def field(name: str, default: str = "") -> int:
        return integer(board / "superblock.txt", 0, name, superblock.get(name, default))

    table, reserved = field("Inode blocks per group"), field("Reserved GDT blocks", "0")
    regions: list[tuple[int, int, int]] = []
    for group in e2fsprogs.groups(board / "groups.txt"):
        single = group.superblock, group.block_bitmap, group.inode_bitmap
        regions += [(block, 1, META) for block in single if block >= 0]
        first, last = group.descriptors
        if first >= 0:
            regions.append((first, last - first + 1 + reserved, META))
        regions.append((group.inodes, table, INODE))
    # 0 is no inode
    journal, orphans = field("Journal inode", "0"), field("Orphan file inode", "0")
    inodes = e2fsprogs.inodes(board / "inodes.txt")
    extents = [(inode, extent) for inode in inodes for extent in inode.extents]
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
    if orphans and orphans not in {inode.number for inode in inodes}:
        regions.append(_orphans_of_mkfs(inodes, superblock, field("Block count")))
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
