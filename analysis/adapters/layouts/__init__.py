"""Class Layout: label each sector of a device (journal, inodes, file data, …) by the filesystem's regions.

Module `<type>.py` of each filesystem has a function layout(raw/board/, superblock.txt's fields) → Layout.
"""

import importlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from analysis.schemas.ledger import LABELS
from base.arrays import Bools, Ints
from base.errors import FileError
from model.filesystems import Superblock

SECTOR = 512
DATA = -1  # a region with blocks of files
META, INODE, JOURNAL, DIRECTORY, PACK = (
    LABELS.index(label)
    for label in (
        *("bitmap/SIT/NAT/superblock", "inode/node", "filesystem journal"),
        *("directory", "checkpoint pack"),
    )
)


@dataclass(frozen=True)
class Layout:
    """The regions of the device after the run; each extends to the start of the next."""

    filesystem: str
    starts: Ints  # first sector of each region, ascending from 0
    labels: Ints  # index in LABELS, or DATA
    # whether each region's blocks may have had another use earlier in the run; None: those of directories
    changing: Bools | None = None

    @property
    def in_place(self) -> bool:
        """Whether a sync writes metadata in place: without journal and checkpoint pack."""
        return not np.isin(self.labels, (JOURNAL, PACK)).any()

    def region(self, sectors: Ints) -> Ints:
        """Return the number of the region of each sector."""
        return np.asarray(np.searchsorted(self.starts, sectors, side="right") - 1)

    def label(self, sectors: Ints) -> Ints:
        """Return the label of the region of each sector, or DATA."""
        return np.asarray(self.labels[self.region(sectors)])

    def may_change(self, sectors: Ints) -> Bools:
        """Return whether each sector is in no file and may have had another use earlier in the run."""
        changing = self.labels == DIRECTORY if self.changing is None else self.changing
        return np.asarray(changing[self.region(sectors)])


def of_regions(
    filesystem: str, regions: list[tuple[int, int, int]], block_size: int, changing: Collection[int] = ()
) -> Layout:
    """Return the Layout of regions (first block, blocks, label). Raises FileError if two overlap.

    changing: the first blocks of the regions that may have had another use earlier in the run.
    """
    regions, each = sorted(regions), block_size // SECTOR
    if each < 1:
        raise FileError(
            "raw/board", "", f"{filesystem}'s blocks have {block_size} bytes", f"{SECTOR} or more"
        )
    for first, blocks, _ in regions:
        if first < 0 or blocks < 0 or (first + blocks) * each >= 2**63:
            where = f"a region of {filesystem} has {blocks} blocks from {first}"
            raise FileError("raw/board", "", where, "sectors from 0 to 2^63")
    for (first, blocks, _), (following, *_) in pairwise(regions):
        if following < first + blocks:
            where = f"two regions of {filesystem} contain block {following}"
            raise FileError("raw/board", "", where, "each block in one region at most")
    edges = np.array(sorted({0, *(edge for first, n, _ in regions for edge in (first, first + n))}))
    labels, changes = np.full(edges.size, DATA, np.int64), np.zeros(edges.size, bool)
    for first, blocks, label in regions:
        of = slice(np.searchsorted(edges, first), np.searchsorted(edges, first + blocks))
        labels[of], changes[of] = label, first in changing
    return Layout(filesystem, edges * each, labels, changes)


def layout(kind: str, board: Path, superblock: Superblock) -> Layout:
    """Return the layout of a filesystem. Raises FileError."""
    result: Layout = importlib.import_module(f"{__name__}.{kind}").layout(board, superblock)
    return result
