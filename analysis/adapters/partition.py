"""A partition beside others on one disk: which of what its disk did is its own.

The kernel numbers block commands by the disk, and counts flushes for it alone: a flush command is no
partition's (its request has none), whoever asked for it. A bio has its partition's number, with sectors
of the disk. Here what is the partition's gets its number, and sectors that begin with it, as they do for
the filesystem on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.adapters.proberecords import TYPES
from base.errors import BadInput

_OP, _FLUSH, _PREFLUSH = 0xFF, 2, 1 << 18  # linux/blk_types.h
# The sector of an empty bio that stands for one of another partition: beyond every disk.
ELSEWHERE = (1 << 36) - 1
_FILE = "raw/board/device.txt"


@dataclass(frozen=True)
class Partition:
    """Where a partition is; devices have the kernel's numbers, major << 20 | minor."""

    dev: int
    disk: int
    others: frozenset[int]  # the disk's other partitions
    start: int  # sectors of 512 bytes, as all below
    sectors: int

    def placed(self, rows: np.ndarray) -> np.ndarray:
        """Return records of the probes (proberecords.RECORD), those that are the partition's with its number.

        Flush commands are. Of a bio of another partition that asks for a flush there is an empty one among
        them, at ELSEWHERE: which flush command was sent for whom nothing else tells.
        """
        found = rows.copy()
        kind, dev, operation = rows["type"], rows["dev"], rows["b"] & _OP
        block = (kind == TYPES["block"]) & (dev == self.disk)
        is_flush = block & (operation == _FLUSH)
        inside = (rows["a"] >= self.start) & (rows["a"] < self.start + self.sectors)
        own = (block & ~is_flush & inside) | ((kind == TYPES["bio"]) & (dev == self.dev) & (rows["n"] > 0))
        elsewhere = np.isin(dev, [self.disk, *self.others])
        other = (kind == TYPES["bio"]) & elsewhere & (rows["b"] & _PREFLUSH > 0)
        found["dev"][is_flush | own | other] = self.dev
        found["a"][own] -= self.start
        for field, value in (("n", 0), ("flags", 0), ("a", ELSEWHERE)):
            found[field][other] = value
        return found

    def relative(self, records: np.ndarray) -> np.ndarray:
        """Return records of the kernel's block tracer, of the partition (blkrecords.RECORD), with its sectors;
        what has no data has no place."""
        found = records.copy()
        found["sector"][records["bytes"] > 0] -= self.start
        return found


def of(device: Mapping[str, str]) -> Partition | None:
    """Return the partition that raw/board/device.txt tells of; None: it tells of a whole device. Raises
    BadInput."""
    if "disk" not in device:
        return None
    return Partition(
        dev=_dev(device, "dev"),
        disk=_dev(device, "disk"),
        others=frozenset(_number(one, "others") for one in device.get("others", "").split()),
        start=_sectors(device, "start"),
        sectors=_sectors(device, "size"),
    )


def _dev(device: Mapping[str, str], name: str) -> int:
    return _number(device.get(name, ""), name)


def _number(text: str, name: str) -> int:
    found = re.fullmatch(r"([0-9]{1,4}):([0-9]{1,7})", text)
    if not found:
        raise BadInput(_FILE, name, repr(text), "major:minor of a device")
    return int(found[1]) << 20 | int(found[2])


def _sectors(device: Mapping[str, str], name: str) -> int:
    text = device.get(name, "")
    if not re.fullmatch("[0-9]{1,18}", text):
        raise BadInput(_FILE, name, repr(text), "a number of sectors")
    return int(text)
