"""ext4: `superblock.txt` is dumpe2fs -h, `groups.txt` dumpe2fs -g, and `inodes.txt` debugfs' `stat` of
the journal's inode, of the file of orphans, and of every directory and file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from analysis.adapters import e2fsprogs
from analysis.adapters.e2fsprogs import Inode
from analysis.adapters.layout import DIRECTORY, INODE, JOURNAL, META, Layout, of_regions
from analysis.run_files.reading import integer
from base.errors import BadInput
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
    extents = [(inode, one) for inode in inodes for one in inode.extents]
    regions += [
        (one.first, one.blocks, JOURNAL)
        for inode, one in extents
        if inode.number == journal and not one.of_map
    ]
    _as_the_kernel_counts(board, superblock, field, sum(blocks for _, blocks, _ in regions))
    changing = set()
    for inode, one in extents:
        if not (one.of_map or inode.directory or inode.number == orphans):
            continue
        regions.append((one.first, one.blocks, DIRECTORY if inode.directory and not one.of_map else INODE))
        if inode.number not in (journal, orphans):
            changing.add(one.first)
    if orphans and orphans not in {inode.number for inode in inodes}:
        regions.append(_orphans_of_mkfs(inodes, superblock, field("Block count")))
    return of_regions("ext4", sorted(set(regions)), field("Block size"), changing)


def _as_the_kernel_counts(
    board: Path, superblock: Superblock, field: Callable[[str], int], blocks: int
) -> None:
    """The regions that hold no file are what the kernel counted when it mounted the filesystem
    (ext4_calculate_overhead, which writes it into the superblock). It counts otherwise for the
    features that are left out. Raises BadInput."""
    if {"bigalloc", "meta_bg"} & set(superblock.get("Filesystem features", "").split()):
        return
    counted = field("Overhead clusters") - field("First block")
    if blocks != counted:
        wrong = f"the groups' tables and the journal have {blocks} blocks"
        raise BadInput(board / "groups.txt", "", wrong, f"the superblock's {counted}")


def _orphans_of_mkfs(inodes: list[Inode], superblock: Superblock, count: int) -> tuple[int, int, int]:
    """Where mke2fs puts the file of orphans: behind lost+found, and a block that it gives the inode for
    resizing. For the runs whose inodes.txt has only the journal and the directories.

    e2fsprogs: misc/mke2fs.c; lib/ext2fs/orphan.c, ext2fs_default_orphan_file_blocks.
    """
    size = min(max(count // 4096, 32), 512)
    ends = (
        one.first + one.blocks for inode in inodes if inode.number == _LOST_FOUND for one in inode.extents
    )
    resizing = "resize_inode" in superblock.get("Filesystem features", "")
    return max(ends, default=0) + resizing, size, INODE
