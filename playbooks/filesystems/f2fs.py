"""Yield the further devices of an F2FS (mkfs.f2fs -c) and their sizes. Runs on a board: Python 3.9."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

# struct f2fs_super_block: where it is on a device, and in it devs[8], each a path and 2 MiB segments
AT, MAGIC = 1024, struct.pack("<I", 0xF2F52010)
DEVICES_AT, DEVICES, DEVICE, SEGMENT = 2201, 8, struct.Struct("<64sI"), 2 << 20


def members(head: bytes) -> Iterator[tuple[str, int]]:
    """Yield node and size of each further device, from the first bytes of the first device."""
    if not head.startswith(MAGIC, AT):
        return
    for place in range(1, DEVICES):
        path, segments = DEVICE.unpack_from(head, AT + DEVICES_AT + place * DEVICE.size)
        if name := path.split(b"\0")[0]:
            yield os.fsdecode(name), segments * SEGMENT
