"""Locate the metadata and superblocks of Btrfs on the device, by the chunk tree (chunks.txt).

chunks.txt is the output of `btrfs inspect-internal dump-tree -t chunk`. A chunk has data of files or nodes of
the trees; one with a copy of itself has a stripe for each. A superblock's copy lies in a chunk, which leaves
it out.
"""

import re
from pathlib import Path

from analysis.adapters.layouts import INODE, META, SECTOR, Layout, of_regions
from analysis.run_files.reading import integer, read_text
from base.errors import FileError
from model.filesystems import Superblock

# fs/btrfs/fs.h: BTRFS_DEVICE_RANGE_RESERVED, BTRFS_SUPER_MIRROR_SHIFT; each copy has a stripe of its own
_RESERVED, _STRIPE = 1 << 20, 1 << 16
_COPIES = (1 << 26, 1 << 38)
_CHUNK = re.compile(r"key \(FIRST_CHUNK_TREE CHUNK_ITEM \d+\)")
_TYPE = re.compile(r"length (\d+) owner 2 stripe_len \d+ type ([A-Z|a-z0-9]+)")
_PLACE = re.compile(r"stripe \d+ devid 1 offset (\d+)")


def layout(board: Path, superblock: Superblock) -> Layout:
    path = board / "chunks.txt"
    regions = [(0, _RESERVED, META)]
    length, label = 0, None
    for place, line in enumerate(read_text(path).splitlines(), 1):
        if found := _TYPE.search(line):
            length = integer(path, place, "a length", found[1])
            label = _label(path, place, found[2].split("|"))
        elif (found := _PLACE.search(line)) and label is not None:
            regions.append((integer(path, place, "an offset", found[1]), length, label))
    if INODE not in {label for _, _, label in regions}:
        raise FileError(path, "", "no chunk of metadata", "a chunk of type METADATA")
    size = integer(board / "superblock.txt", 0, "total_bytes", superblock.get("total_bytes", ""))
    for copy in _COPIES:
        if copy < size:
            regions = [part for region in regions for part in _without(region, copy)]
            regions.append((copy, _STRIPE, META))
    sectors = [(first // SECTOR, count // SECTOR, label) for first, count, label in regions]
    return of_regions("btrfs", sectors, SECTOR)


def _label(path: Path, place: int, words: list[str]) -> int | None:
    """Return the label of a chunk; None for data of files."""
    if "DATA" in words and "METADATA" in words:
        raise FileError(path, f"line {place}", "|".join(words), "data and metadata in chunks of their own")
    return INODE if "METADATA" in words else META if "SYSTEM" in words else None


def _without(region: tuple[int, int, int], copy: int) -> list[tuple[int, int, int]]:
    """Return the parts of a region that a superblock's copy leaves."""
    first, count, label = region
    end, after = first + count, copy + _STRIPE
    parts = [(first, min(end, copy)), (max(first, after), end)]
    return [(low, high - low, label) for low, high in parts if low < high]
