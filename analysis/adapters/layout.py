"""Where a filesystem keeps what on the device (model/filesystems/ reads it from raw/board/)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.schemas.ledger import LABELS
from base.arrays import Bools, Ints
from base.errors import BadInput

SECTOR = 512
DATA = -1  # a region whose blocks belong to files
META, INODE, JOURNAL, DIRECTORY, PACK = (
    LABELS.index(label)
    for label in (
        *("bitmap/SIT/NAT/superblock", "inode/node", "filesystem journal"),
        *("directory", "checkpoint pack"),
    )
)


@dataclass(frozen=True)
class Layout:
    """The device as regions, each from its start up to the next one's, as it was after the run."""

    filesystem: str
    starts: Ints  # first sector of each region, ascending from 0
    labels: Ints  # place in schema.LABELS of what is written there, or DATA
    # whether each region's blocks may have been something else earlier in the run; None: directories' only
    changing: Bools | None = None

    @property
    def in_place(self) -> bool:
        """Whether there is neither a journal nor a checkpoint pack: a sync writes metadata to their place."""
        return not np.isin(self.labels, (JOURNAL, PACK)).any()

    def region(self, sectors: Ints) -> Ints:
        """Return the number of the region of each sector."""
        found: Ints = np.searchsorted(self.starts, sectors, side="right") - 1
        return found

    def label(self, sectors: Ints) -> Ints:
        """Return the label of the region of each sector, or DATA."""
        found: Ints = self.labels[self.region(sectors)]
        return found

    def may_change(self, sectors: Ints) -> Bools:
        """Return whether each sector may have been something else earlier in the run, and is no file's."""
        changing = self.labels == DIRECTORY if self.changing is None else self.changing
        found: Bools = changing[self.region(sectors)]
        return found


def of_regions(
    filesystem: str, regions: list[tuple[int, int, int]], block_size: int, changing: Collection[int] = ()
) -> Layout:
    """Make a Layout of (first block, blocks, label). Raises BadInput if a block is in two of them, or on
    no device. changing: the first blocks of those that may have been something else earlier in the run."""
    regions, each = sorted(regions), block_size // SECTOR
    if each < 1:
        raise BadInput("raw/board", "", f"{filesystem}'s blocks have {block_size} bytes", f"{SECTOR} or more")
    for first, blocks, _ in regions:
        if first < 0 or blocks < 0 or (first + blocks) * each >= 2**63:
            where = f"a region of {filesystem} has {blocks} blocks from {first} on"
            raise BadInput("raw/board", "", where, "sectors from 0 to 2^63")
    for (first, blocks, _), (following, *_) in pairwise(regions):
        if following < first + blocks:
            where = f"two of {filesystem}'s regions have the block {following}"
            raise BadInput("raw/board", "", where, "each block in one region at most")
    edges = np.array(sorted({0, *(edge for first, n, _ in regions for edge in (first, first + n))}))
    labels, changes = np.full(edges.size, DATA, np.int64), np.zeros(edges.size, bool)
    for first, blocks, label in regions:
        of = slice(np.searchsorted(edges, first), np.searchsorted(edges, first + blocks))
        labels[of], changes[of] = label, first in changing
    return Layout(filesystem, edges * each, labels, changes)
