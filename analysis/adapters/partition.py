"""A partition beside others on one disk: which of what its disk did is its own.

The kernel numbers block commands by the disk, and counts flushes for it alone: a flush command is no
partition's (its request has none), whoever asked for it. A bio has its partition's number, with sectors
of the disk; a round of the flusher is the disk's. Here what is the partition's gets its number, and sectors
that begin with it, as they do for the filesystem on it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.adapters.covariates import Covariates
from analysis.adapters.proberecords import TYPES, ByType
from analysis.run_files.reading import shown
from base.errors import BadInput

_OP, _WRITE, _FLUSH, _FUA, _PREFLUSH = 0xFF, 1, 2, 1 << 17, 1 << 18  # linux/blk_types.h
# The sector of an empty bio that stands for one of another partition: beyond every disk.
ELSEWHERE = (1 << 36) - 1
# The number of a bio that no filesystem queued: the flush that a write without FUA is followed by.
AFTER = (1 << 62) - 1
_FILE = "raw/board/device.txt"
_OTHERS = 256  # DISK_MAX_PARTS of linux/blkdev.h
# Within which a flush that is complete is counted, behind it (flush_end_io of block/blk-flush.c)
_COUNTED_NS = 1_000_000


@dataclass(frozen=True)
class Partition:
    """Where a partition is; devices have the kernel's numbers, major << 20 | minor."""

    dev: int
    disk: int
    others: frozenset[int]  # the disk's other partitions
    start: int  # sectors of 512 bytes, as all below
    sectors: int

    def chunks(self, chunks: Iterable[ByType]) -> Iterator[ByType]:
        """Return records as `placed` does, and of each write of another partition that is to be on the
        medium at its end (FUA), on a disk that knows no such write, an empty bio then: a flush follows it.
        """
        due: Counter[tuple[int, int]] = Counter()
        for chunk in chunks:
            after = self._followed(chunk["bio"], chunk["block"], due)
            placed = {name: self.placed(rows) for name, rows in chunk.items()}
            if after.size:
                placed["bio"] = np.concatenate([placed["bio"], after])
            yield placed

    def placed(self, rows: np.ndarray) -> np.ndarray:
        """Return records of the probes (proberecords.RECORD), those that are the partition's with its number.

        Flush commands and the flusher's rounds are. Of a bio of another partition that asks for a flush
        there is an empty one among them, at ELSEWHERE: which flush command was sent for whom nothing else
        tells.
        """
        found = rows.copy()
        kind, dev, operation = rows["type"], rows["dev"], rows["b"] & _OP
        block = (kind == TYPES["block"]) & (dev == self.disk)
        is_flush = block & (operation == _FLUSH)
        inside = (rows["a"] >= self.start) & (rows["a"] < self.start + self.sectors)
        own = (block & ~is_flush & inside) | ((kind == TYPES["bio"]) & (dev == self.dev) & (rows["n"] > 0))
        other = self._of_others(rows) & (rows["b"] & _PREFLUSH > 0)
        rounds = (kind == TYPES["writeback"]) & (dev == self.disk)
        found["dev"][is_flush | own | other | rounds] = self.dev
        found["a"][own] -= self.start
        for field, value in (("n", 0), ("flags", 0), ("a", ELSEWHERE)):
            found[field][other] = value
        return found

    def alone(self, rows: np.ndarray) -> np.ndarray:
        """Return records as `placed` does, those of another partition with the disk's number."""
        found = self.placed(rows)
        found["dev"][(found["type"] == TYPES["bio"]) & (found["a"] == ELSEWHERE)] = self.disk
        return found

    def _of_others(self, rows: np.ndarray) -> np.ndarray:
        """Return which records are bios of other partitions, or of the disk itself."""
        of: np.ndarray = (rows["type"] == TYPES["bio"]) & np.isin(rows["dev"], [self.disk, *self.others])
        return of

    def _followed(self, bios: np.ndarray, blocks: np.ndarray, due: Counter[tuple[int, int]]) -> np.ndarray:
        """Return the bios of `chunks`; due: place and size of the writes that have not ended, kept.

        No such write is merged with another, nor is it split.
        """
        fua = bios[self._of_others(bios) & (bios["b"] & _FUA > 0) & (bios["n"] > 0)]
        due.update(zip(fua["a"].tolist(), fua["n"].tolist(), strict=True))
        writes = blocks[(blocks["dev"] == self.disk) & (blocks["b"] & _OP == _WRITE)]
        ended = []
        for row, place in enumerate(zip(writes["a"].tolist(), writes["n"].tolist(), strict=True)):
            if due[place]:
                due[place] -= 1
                ended.append(row)
        ended = [row for row in ended if not writes["b"][row] & _FUA]
        found: np.ndarray = writes[ended]
        found["type"], found["dev"], found["begin_ns"] = TYPES["bio"], self.dev, found["end_ns"]
        found["a"], found["b"], found["d"] = ELSEWHERE, _WRITE | _PREFLUSH, AFTER
        found["n"], found["flags"] = 0, 0
        return found

    def traced(self, records: np.ndarray) -> np.ndarray:
        """Return those records of the kernel's block tracer, told to trace the partition (blkrecords.RECORD
        or some fields of it), that are the partition's, with its sectors.

        What has no data has no place: the tracer has that of the whole disk. It has, too, what begins at
        the first sector behind the partition.
        """
        found: np.ndarray = records[(records["bytes"] == 0) | (records["sector"] < self.start + self.sectors)]
        found["sector"][found["bytes"] > 0] -= self.start
        return found


def of(device: Mapping[str, str]) -> Partition | None:
    """Return the partition that raw/board/device.txt tells of; None: it tells of a whole device. Raises
    BadInput."""
    if "disk" not in device:
        return None
    others = device.get("others", "").split()
    if len(others) > _OTHERS:
        raise BadInput(_FILE, "others", f"{len(others)} partitions", f"at most {_OTHERS}, as a disk has")
    return Partition(
        dev=_dev(device, "dev"),
        disk=_dev(device, "disk"),
        others=frozenset(_number(one, "others") for one in others),
        start=_sectors(device, "start"),
        sectors=_sectors(device, "size"),
    )


def bracket(found: Covariates | None, ends: np.ndarray) -> tuple[int, int, int] | None:
    """Return how many flushes a disk counted between its two readings, and how many that may be at least and
    at most by when flush commands were complete (ns); None if that was not read.
    """
    if found is None:
        return None
    grew = found.grew("disk/flush_ios")
    (first, last), (first_of_end, last_of_end) = (
        (found.number("counted_from_ns", edge), found.number("counted_until_ns", edge))
        for edge in (found.begin, found.end)
    )
    if grew is None or first is None or last is None or first_of_end is None or last_of_end is None:
        return None
    least = (ends >= last + _COUNTED_NS) & (ends <= first_of_end - _COUNTED_NS)
    most = (ends >= first - _COUNTED_NS) & (ends <= last_of_end + _COUNTED_NS)
    return grew, int(least.sum()), int(most.sum())


def _dev(device: Mapping[str, str], name: str) -> int:
    return _number(device.get(name, ""), name)


def _number(text: str, name: str) -> int:
    found = re.fullmatch(r"([0-9]{1,4}):([0-9]{1,7})", text)
    # 12 and 20 bits (linux/kdev_t.h)
    if not found or int(found[1]) >> 12 or int(found[2]) >> 20:
        raise BadInput(_FILE, name, shown(text), "major:minor of a device")
    return int(found[1]) << 20 | int(found[2])


def _sectors(device: Mapping[str, str], name: str) -> int:
    text = device.get(name, "")
    if not re.fullmatch("[0-9]{1,18}", text):
        raise BadInput(_FILE, name, shown(text), "a number of sectors")
    return int(text)
