"""What an XFS says of its realtime device, which is named when it is mounted (rtdev) and not in it.

Its log on a device of its own has a signature (xfs_external_log). Runs on a board: Python 3.9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

# struct xfs_dsb: sb_magicnum, sb_blocksize, sb_dblocks, sb_rblocks
SUPERBLOCK, MAGIC = struct.Struct(">4sIQQ"), b"XFSB"


def members(head: bytes) -> Iterator[tuple[str, int]]:
    """The bytes of its realtime device, if it has one, and no node, by the first bytes of its data device."""
    if head.startswith(MAGIC):
        _, block, _, blocks = SUPERBLOCK.unpack_from(head)
        if blocks:
            yield "", block * blocks
