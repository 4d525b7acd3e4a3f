"""Locate the metadata, log and directories of XFS on the device, from the output of xfs_db and xfs_io.

`superblock.txt` is the output of xfs_db's `info`, a field a line with its section in front; `fsmap.csv` has
the owner of each extent (xfs_io -c 'fsmap -m'); `directories.txt` has the inodes of the directories.
The log and metadata are written from buffers that belong to no page of any file, so only their place on the
device identifies them. A copy in the log does not name its block.
"""

import re
from pathlib import Path

from analysis.adapters.layouts import DIRECTORY, INODE, JOURNAL, META, SECTOR, Layout, of_regions
from analysis.run_files.reading import integer, read_text
from base.errors import FileError
from model.filesystems import Superblock

_HEADER = "EXT,MAJOR,MINOR,PSTART,PEND,OWNER,OSTART,OEND,LENGTH"
# Owners of extents that are neither an inode's nor free: XFS_FMR_OWN_* of include/linux/fsmap.h and
# fs/xfs/libxfs/xfs_fs.h.
_OWNERS = {
    "special_88:1": META,  # superblocks
    "special_88:2": JOURNAL,
    "special_88:3": META,  # of an allocation group: AGF, AGFL, AGI, free space and reverse mapping
    "special_88:4": META,  # which inodes there are
    "special_88:5": INODE,
    "special_88:6": META,  # reference counts
}
# Superblocks and the log stay where mkfs put them.
_FIXED = ("special_88:1", "special_88:2")


def layout(board: Path, superblock: Superblock) -> Layout:
    path = board / "fsmap.csv"
    directories = set(read_text(board / "directories.txt").split())
    lines = read_text(path).splitlines()
    if not lines or lines[0] != _HEADER:
        raise FileError(path, "line 1", repr(lines[0][:80] if lines else ""), _HEADER)
    regions, changing = [], set()
    for place, line in enumerate(lines[1:], 2):
        cells = line.split(",")
        if len(cells) < 6:
            raise FileError(path, f"line {place}", repr(line[:80]), _HEADER)
        first, last = (integer(path, place, "a sector", cell) for cell in cells[3:5])
        label = _label(cells[5], directories)
        if label is not None:
            regions.append((first, last - first + 1, label))
            if cells[5] not in _FIXED:
                changing.add(first)
    if JOURNAL not in {label for _, _, label in regions}:
        raise FileError(path, "", "no log", "an extent of special_88:2")
    return of_regions("xfs", regions, SECTOR, changing)


def _label(owner: str, directories: set[str]) -> int | None:
    """Return the label of an extent; None for data of a file or free space."""
    if inode := re.fullmatch(r"inode_([0-9]+)_(\w+)", owner):
        if inode[2] != "data":  # extended attributes, or a block of its map
            return INODE
        return DIRECTORY if inode[1] in directories else None
    return _OWNERS.get(owner)
