"""Yield the size of an XFS's realtime device, so that a board's device that may be one is refused.

The device is named at the mount (rtdev), not in the superblock. A log on a separate device has a
signature (xfs_external_log). board/members.py asks. Runs on a board: Python 3.9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

# struct xfs_dsb: sb_magicnum, sb_blocksize, sb_dblocks, sb_rblocks
SUPERBLOCK, MAGIC = struct.Struct(">4sIQQ"), b"XFSB"


def members(head: bytes) -> Iterator[tuple[str, int]]:
    """Yield the realtime device's size, if there is one, without a node, from the data device's first
    bytes."""
    if head.startswith(MAGIC):
        _, block, _, blocks = SUPERBLOCK.unpack_from(head)
        if blocks:
            yield "", block * blocks
