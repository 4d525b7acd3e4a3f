"""Layout of {{NAME}} on the device, from what `describe` of playbooks/filesystems/{{NAME}}.sh writes."""

from __future__ import annotations

from pathlib import Path

from analysis.adapters.layouts import Layout, of_regions
from analysis.run_files.reading import integer
from model.filesystems import Superblock


def layout(board: Path, superblock: Superblock) -> Layout:
    """Return where its structures are on the device (required). Raises FileError."""
    size = integer(board / "superblock.txt", 0, "block_size", superblock.get("block_size", ""))
    # (first block, blocks, META | INODE | JOURNAL | DIRECTORY | PACK); all other blocks belong to files
    regions: list[tuple[int, int, int]] = []
    return of_regions("{{NAME}}", regions, size)
