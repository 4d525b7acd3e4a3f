"""raw/probes.bin: the records of each type, all at once or, of those that are many, in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.adapters import proberecords
from analysis.adapters.partition import AFTER, Partition
from analysis.adapters.proberecords import CHUNK, RECORD, TYPES, ByType, joined, split, taken
from base.arrays import Ints, ascending, distinct

# The many: what there is for each block command. The ledger takes them in chunks.
MANY = ("block", "bio", "pages")
TOGETHER = 6  # chunks of the file
_NO_DEVICE = ("attached", "detached", "off_cpu", "comm")

# What the ledger needs of the types that there are many of.
_NEEDED = {
    "block": ("begin_ns", "end_ns", "dev", "n", "a", "b", "c"),
    "bio": ("begin_ns", "flags", "tid", "dev", "n", "a", "b", "d"),
    "pages": ("flags", "dev", "n", "a", "b", "d"),
    "sync": ("begin_ns", "end_ns", "flags", "tid", "dev", "n", "a"),
    "flush": ("begin_ns", "end_ns", "tid", "dev"),
    "commit": ("begin_ns", "end_ns", "flags", "tid", "dev", "n", "a"),
    "commit_wait": ("begin_ns", "end_ns", "tid", "dev", "a"),
    "checkpoint": ("begin_ns", "end_ns", "tid", "dev", "n"),
    "data_wait": ("begin_ns", "end_ns", "tid", "dev"),
    "node_wait": ("begin_ns", "end_ns", "tid", "dev"),
    "off_cpu": ("begin_ns", "end_ns", "tid"),
}

_COLUMNS = {name: [field for field in _NEEDED[name] if field != "dev"] for name in MANY}

# What is kept of the records of a type: some of the fields of RECORD.
SLIM = {
    name: np.dtype([(field, RECORD[field]) for field in _NEEDED.get(name, RECORD.names or ())], align=True)
    for name in TYPES
}

Few = dict[str, np.ndarray]  # RECORD by the type's name, in the order of begin_ns


class Chunk(NamedTuple):
    """Records of MANY that are next to each other in the file."""

    block: np.ndarray
    bio: np.ndarray
    pages: np.ndarray


class Columns:
    """Fields of the records of one of MANY: what is done to all rows at once is quicker by column."""

    def __init__(self, columns: dict[str, Ints]) -> None:
        """The columns are of one length."""
        self._columns = columns

    @classmethod
    def of(cls, name: str, parts: Sequence[np.ndarray | Columns]) -> Columns:
        """Put the rows of all parts, records or columns of the type `name`, one after the other."""
        return cls({field: _column([part[field] for part in parts]) for field in _COLUMNS[name]})

    def __getitem__(self, field: str) -> Ints:
        return self._columns[field]

    @property
    def size(self) -> int:
        """The number of rows."""
        return self._columns["n"].size

    def take(self, rows: Ints) -> Columns:
        """Return some of the rows."""
        return Columns({field: column.take(rows) for field, column in self._columns.items()})

    def in_time(self) -> Columns:
        """Return the rows in the order of begin_ns, as they mostly are."""
        begin = self["begin_ns"]
        return self if ascending(begin) else self.take(np.argsort(begin, kind="stable"))


def _column(parts: list[np.ndarray]) -> Ints:
    return np.concatenate(parts, dtype=np.int64, casting="same_kind") if parts else np.empty(0, np.int64)


class Records:
    """All records, in the order of the ring: each is written when what it tells of has ended."""

    def __init__(self, chunks: Callable[[], Iterable[ByType]]) -> None:
        """Each call of `chunks` goes through all of them."""
        self._chunks = chunks
        parts: dict[str, list[np.ndarray]] = {name: [] for name in TYPES}
        devices: set[int] = set()
        bios, low, high = 0, 2**64, -1
        for rows in chunks():
            if (serial := rows["bio"]["d"][rows["bio"]["d"] != AFTER]).size:
                bios, low, high = bios + serial.size, min(low, serial.min()), max(high, serial.max())
            devices.update(distinct(rows["block"]["dev"]))
            for name, found in parts.items():
                found.append(_slim(name, rows[name]))
        self.devices = sorted(devices)  # that got block commands
        # all bios of all devices have numbers, one after the other
        self.lost_bios = int(high) - int(low) + 1 - bios if bios else 0
        self._many: list[Chunk] | None = [
            Chunk(*rows) for rows in zip(*(parts.pop(name) for name in MANY), strict=True)
        ]
        self._few = {name: _in_time(name, _joined(name, found)) for name, found in parts.items()}

    def few(self, dev: int) -> Few:
        """Return all records but MANY of one device, and those that have no device."""
        return {name: rows if name in _NO_DEVICE else _of(rows, dev) for name, rows in self._few.items()}

    def many(self, dev: int) -> Iterator[list[Chunk]]:
        """Return the records of MANY of one device, so many as are quickest to correlate at once.

        Only once: they are forgotten as they are taken.
        """
        if self._many is None:
            raise RuntimeError("the records were taken before")
        many, self._many = self._many[::-1], None
        while many:
            parts = [many.pop() for _ in range(min(TOGETHER, len(many)))]
            yield [Chunk(*(_of(rows, dev) for rows in part)) for part in parts]

    def bios(self, dev: int) -> np.ndarray:
        """Return the bios of one device, in the order of the file."""
        return self._again("bio", dev)

    def commands(self, dev: int) -> np.ndarray:
        """Return the commands of one device that completed, in the order of issue."""
        return _in_time("block", self._again("block", dev))

    def _again(self, name: str, dev: int) -> np.ndarray:
        """Return the records of one of MANY of one device, which are gone through once more."""
        return _joined(name, [_slim(name, _of(rows[name], dev)) for rows in self._chunks()])


def _of(rows: np.ndarray, dev: int) -> np.ndarray:
    """Return the rows of a device: mostly all."""
    ours = rows["dev"] == dev
    return rows if ours.all() else taken(rows, ours)


def of_array(rows: np.ndarray) -> Records:
    """Return records that are in memory."""
    return Records(lambda: (split(rows[at : at + CHUNK]) for at in range(0, rows.size, CHUNK)))


def read(path: Path, partition: Partition | None = None) -> Records:
    """Read probes.bin; what is a partition's has its number. Raises BadInput with the byte that is wrong."""
    if partition is None:
        return Records(lambda: proberecords.chunks(path))
    return Records(lambda: partition.chunks(proberecords.chunks(path)))


def _slim(name: str, rows: np.ndarray) -> np.ndarray:
    """Return a copy of the rows, without the fields that are not needed."""
    kept = np.empty(rows.size, SLIM[name])
    for field in (SLIM[name].names or ()) if rows.size else ():
        kept[field] = rows[field]
    return kept


def _joined(name: str, parts: Iterable[np.ndarray]) -> np.ndarray:
    return joined([np.empty(0, SLIM[name]), *parts])


def _in_time(name: str, found: np.ndarray) -> np.ndarray:
    """Sort by begin_ns; the parts of a name stay as they are, one after the other."""
    if name == "name" or (found["begin_ns"][1:] >= found["begin_ns"][:-1]).all():
        return found
    return taken(found, np.argsort(found["begin_ns"], kind="stable"))
