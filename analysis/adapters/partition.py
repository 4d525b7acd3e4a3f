"""Select and renumber a disk's records for the partition under test; bound the disk's number of flushes.

The kernel numbers block commands by disk, and a flush command has no partition, whoever requested it. A bio
has its partition's number but sectors of the disk; a round of the flusher has the disk's number. The assigned
records have the partition's number, and sectors relative to it, as on its filesystem.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.adapters.proberecords import TYPES, ByType
from analysis.run_files.reading import shown
from base.errors import FileError
from model.block_operations import FLUSH, FUA, OP, PREFLUSH, WRITE
from model.covariates import Covariates

# Sector of an empty bio that stands for a bio of another partition: beyond every disk.
FOREIGN_SECTOR = (1 << 36) - 1
# Number of a bio that no filesystem queued: the flush that follows a write where the disk lacks FUA.
FOLLOWING_FLUSH = (1 << 62) - 1
_FILE = Path("raw/board/device.txt")
_MOST_PARTITIONS = 256  # DISK_MAX_PARTS of linux/blkdev.h
# A complete flush is counted within this time (flush_end_io of block/blk-flush.c)
_COUNTED_NS = 1_000_000


@dataclass(frozen=True)
class Partition:
    """A partition's place on its disk; device numbers are the kernel's: major << 20 | minor."""

    dev: int
    disk: int
    others: frozenset[int]  # the disk's other partitions
    start: int  # sectors of 512 bytes, as all below
    sectors: int

    def assign_chunks(self, chunks: Iterable[ByType]) -> Iterator[ByType]:
        """Yield each chunk with its records assigned.

        On a disk without FUA, a flush follows a FUA write. Such a write of another partition adds an empty
        bio at the write's end.
        """
        pending: Counter[tuple[int, int]] = Counter()
        for chunk in chunks:
            following = self._following_flushes(chunk["bio"], chunk["block"], pending)
            assigned = {name: self.assign(rows) for name, rows in chunk.items()}
            if following.size:
                assigned["bio"] = np.concatenate([assigned["bio"], following])
            yield assigned

    def assign(self, rows: np.ndarray) -> np.ndarray:
        """Return probe records (proberecords.RECORD) with those of the partition assigned to it.

        They include all flush commands and rounds of the flusher. A bio of another partition that requests a
        flush becomes an empty bio at FOREIGN_SECTOR: it may be the reason for a flush command.
        """
        result = rows.copy()
        kind, dev, operation = rows["type"], rows["dev"], rows["b"] & OP
        is_block = (kind == TYPES["block"]) & (dev == self.disk)
        is_flush = is_block & (operation == FLUSH)
        inside = (rows["a"] >= self.start) & (rows["a"] < self.start + self.sectors)
        is_bio = (kind == TYPES["bio"]) & (dev == self.dev) & (rows["n"] > 0)
        has_sectors = (is_block & ~is_flush & inside) | is_bio
        foreign = self._is_foreign_bio(rows) & (rows["b"] & PREFLUSH > 0)
        rounds = (kind == TYPES["writeback"]) & (dev == self.disk)
        result["dev"][is_flush | has_sectors | foreign | rounds] = self.dev
        result["a"][has_sectors] -= self.start
        for field, value in (("n", 0), ("flags", 0), ("a", FOREIGN_SECTOR)):
            result[field][foreign] = value
        return result

    def assign_own(self, rows: np.ndarray) -> np.ndarray:
        """Return records as `assign` does, but bios of other partitions have the disk's number."""
        result = self.assign(rows)
        result["dev"][(result["type"] == TYPES["bio"]) & (result["a"] == FOREIGN_SECTOR)] = self.disk
        return result

    def _is_foreign_bio(self, rows: np.ndarray) -> np.ndarray:
        """Return which records are bios of other partitions, or of the disk itself."""
        is_bio: np.ndarray = rows["type"] == TYPES["bio"]
        return is_bio & np.isin(rows["dev"], [self.disk, *self.others])

    def _following_flushes(
        self, bios: np.ndarray, blocks: np.ndarray, pending: Counter[tuple[int, int]]
    ) -> np.ndarray:
        """Return the empty bios to add to a chunk.

        pending: sector and size of the FUA writes that have not ended. They are neither merged nor split.
        """
        fua = bios[self._is_foreign_bio(bios) & (bios["b"] & FUA > 0) & (bios["n"] > 0)]
        pending.update(zip(fua["a"].tolist(), fua["n"].tolist(), strict=True))
        writes = blocks[(blocks["dev"] == self.disk) & (blocks["b"] & OP == WRITE)]
        ended = []
        for row, place in enumerate(zip(writes["a"].tolist(), writes["n"].tolist(), strict=True)):
            if pending[place]:
                pending[place] -= 1
                ended.append(row)
        result: np.ndarray = writes[[row for row in ended if not writes["b"][row] & FUA]]
        result["type"], result["dev"], result["begin_ns"] = TYPES["bio"], self.dev, result["end_ns"]
        result["a"], result["b"], result["d"] = FOREIGN_SECTOR, WRITE | PREFLUSH, FOLLOWING_FLUSH
        result["n"], result["flags"] = 0, 0
        return result

    def assign_traced(self, records: np.ndarray) -> np.ndarray:
        """Return the partition's records of a kernel block trace, with its sectors.

        Records have some fields of blkrecords.RECORD. The tracer filters by partition, but it also keeps
        records without data of the whole disk, and those that begin right after the partition.
        """
        end = self.start + self.sectors
        result: np.ndarray = records[(records["bytes"] == 0) | (records["sector"] < end)]
        result["sector"][result["bytes"] > 0] -= self.start
        return result


def read_partition(device: Mapping[str, str]) -> Partition | None:
    """Return the partition in raw/board/device.txt; None for a whole device. Raises FileError."""
    if "disk" not in device:
        return None
    others = device.get("others", "").split()
    if len(others) > _MOST_PARTITIONS:
        raise FileError(_FILE, "others", f"{len(others)} partitions", f"at most {_MOST_PARTITIONS}")
    return Partition(
        dev=device_number(_FILE, "dev", device.get("dev", "")),
        disk=device_number(_FILE, "disk", device["disk"]),
        others=frozenset(device_number(_FILE, "others", name) for name in others),
        start=_sectors(device, "start"),
        sectors=_sectors(device, "size"),
    )


def flush_bounds(covariates: Covariates | None, ends: np.ndarray) -> tuple[int, int, int] | None:
    """Return the flushes that a disk counted between its two readings, and the least and most possible.

    ends: when the flush commands were complete (ns). None if a reading is missing.
    """
    if covariates is None:
        return None
    counted = covariates.growth("disk/flush_ios")
    (begin_from, begin_until), (end_from, end_until) = (
        (covariates.number("counted_from_ns", edge), covariates.number("counted_until_ns", edge))
        for edge in (covariates.begin, covariates.end)
    )
    if counted is None or begin_from is None or begin_until is None or end_from is None or end_until is None:
        return None
    least = (ends >= begin_until + _COUNTED_NS) & (ends <= end_from - _COUNTED_NS)
    most = (ends >= begin_from - _COUNTED_NS) & (ends <= end_until + _COUNTED_NS)
    return counted, int(least.sum()), int(most.sum())


def device_number(path: Path, where: str, text: str) -> int:
    """Return major:minor as the kernel's number, of 12 and 20 bits (linux/kdev_t.h). Raises FileError."""
    match = re.fullmatch(r"([0-9]{1,4}):([0-9]{1,7})", text)
    if not match or int(match[1]) >> 12 or int(match[2]) >> 20:
        raise FileError(path, where, shown(text), "major:minor of a device")
    return int(match[1]) << 20 | int(match[2])


def _sectors(device: Mapping[str, str], name: str) -> int:
    text = device.get(name, "")
    if not re.fullmatch("[0-9]{1,18}", text):
        raise FileError(_FILE, name, shown(text), "a number of sectors")
    return int(text)
