"""Locate the superblocks, checkpoint packs and tables of F2FS, from the output of dump.f2fs -d 1."""

from itertools import pairwise
from pathlib import Path

from analysis.adapters.layouts import META, PACK, Layout, of_regions
from analysis.run_files.reading import integer
from base.errors import FileError
from model.filesystems import Superblock


def layout(board: Path, superblock: Superblock) -> Layout:
    def field(name: str) -> int:
        text = superblock.get(name, "").partition(":")[2].strip()
        return integer(board / "superblock.txt", 0, name, text)

    def power(name: str) -> int:
        if (exponent := field(name)) not in range(32):
            raise FileError(board / "superblock.txt", "", f"{name} is {exponent}", "0 to 31")
        return 1 << exponent

    areas = ("cp", "sit", "nat", "ssa", "main")
    at = {name: field(f"{name}_blkaddr") for name in areas}
    segment = power("log_blocks_per_seg")
    for name, following in pairwise(areas):
        counted = "ckpt" if name == "cp" else name
        size = field(f"segment_count_{counted}") * segment
        if at[following] - at[name] != size:
            where = f"{following}_blkaddr is {at[following]}"
            raise FileError(
                board / "superblock.txt", "", where, f"{at[name] + size}: {counted} has {size} blocks"
            )
    regions = [
        (0, at["cp"], META),
        (at["cp"], at["sit"] - at["cp"], PACK),
        (at["sit"], at["main"] - at["sit"], META),
    ]
    return of_regions("f2fs", regions, power("log_blocksize"))
