"""Read raw/probes.bin by type of record and by device; frequent types (bios, commands, pages) in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.adapters import proberecords
from analysis.adapters.partition import FOLLOWING_FLUSH, Partition
from analysis.adapters.proberecords import RECORD, TYPES, ByType, joined, taken
from base.arrays import Ints, ascending, distinct

# The frequent types: several records per block command. The ledger takes them in chunks.
MANY = ("block", "bio", "pages")
TOGETHER = 6  # chunks of the file taken at once
_NO_DEVICE = ("attached", "detached", "off_cpu", "comm")

# Fields of the frequent types that the ledger needs.
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

# Fields of RECORD that are kept, by type.
SLIM = {
    name: np.dtype([(field, RECORD[field]) for field in _NEEDED.get(name, RECORD.names or ())], align=True)
    for name in TYPES
}

Few = dict[str, np.ndarray]  # RECORD by type name, ordered by begin_ns


class Chunk(NamedTuple):
    """Adjacent records of the frequent types."""

    block: np.ndarray
    bio: np.ndarray
    pages: np.ndarray


class Columns:
    """Fields of the records of one frequent type; operations on all rows are faster by column."""

    def __init__(self, columns: dict[str, Ints]) -> None:
        """All columns have the same length."""
        self._columns = columns

    @classmethod
    def of(cls, name: str, parts: Sequence[np.ndarray | Columns]) -> Columns:
        """Concatenate the rows of all parts, which are records or columns of the type `name`."""
        return cls({field: _column([part[field] for part in parts]) for field in _COLUMNS[name]})

    def __getitem__(self, field: str) -> Ints:
        return self._columns[field]

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return self._columns["n"].size

    def take(self, rows: Ints) -> Columns:
        """Return the given rows."""
        return Columns({field: column.take(rows) for field, column in self._columns.items()})

    def in_time(self) -> Columns:
        """Return the rows ordered by begin_ns; they mostly are already."""
        begin = self["begin_ns"]
        return self if ascending(begin) else self.take(np.argsort(begin, kind="stable"))


def _column(parts: list[np.ndarray]) -> Ints:
    return np.concatenate(parts, dtype=np.int64, casting="same_kind") if parts else np.empty(0, np.int64)


class Records:
    """All records in ring order: each is written when its event ends."""

    def __init__(self, chunks: Callable[[], Iterable[ByType]]) -> None:
        """`chunks` returns a new iterator over all records at each call."""
        self._chunks = chunks
        parts: dict[str, list[np.ndarray]] = {name: [] for name in TYPES}
        devices: set[int] = set()
        bios, low, high = 0, 2**64, -1
        for rows in chunks():
            if (serial := rows["bio"]["d"][rows["bio"]["d"] != FOLLOWING_FLUSH]).size:
                bios, low, high = bios + serial.size, min(low, serial.min()), max(high, serial.max())
            devices.update(distinct(rows["block"]["dev"]))
            for name, kept in parts.items():
                kept.append(_slim(name, rows[name]))
        self.devices = sorted(devices)  # devices with block commands
        # bios of all devices are numbered consecutively
        self.lost_bios = int(high) - int(low) + 1 - bios if bios else 0
        self._many: list[Chunk] | None = [
            Chunk(*rows) for rows in zip(*(parts.pop(name) for name in MANY), strict=True)
        ]
        self._few = {name: _in_time(name, _joined(name, kept)) for name, kept in parts.items()}

    def few(self, dev: int) -> Few:
        """Return the records of one device, and those without a device, except the frequent types."""
        few = {name: rows if name in _NO_DEVICE else _of(rows, dev) for name, rows in self._few.items()}
        # a round of the flusher on a filesystem with a device number of its own (model/filesystems) has none
        rounds = self._few["writeback"]
        few["writeback"] = taken(rounds, np.isin(rounds["dev"], (dev, 0)))
        return few

    def many(self, dev: int) -> Iterator[list[Chunk]]:
        """Yield the frequent records of one device, in lists that are efficient to correlate.

        They can be taken once only, as each is freed when taken.
        """
        if self._many is None:
            raise RuntimeError("the records can be taken only once")
        many, self._many = self._many[::-1], None
        while many:
            parts = [many.pop() for _ in range(min(TOGETHER, len(many)))]
            yield [Chunk(*(_of(rows, dev) for rows in part)) for part in parts]

    def bios(self, dev: int) -> np.ndarray:
        """Return the bios of one device, in file order."""
        return self._again("bio", dev)

    def commands(self, dev: int) -> np.ndarray:
        """Return the completed commands of one device, ordered by issue."""
        return _in_time("block", self._again("block", dev))

    def _again(self, name: str, dev: int) -> np.ndarray:
        """Return the records of one frequent type of one device, from another pass."""
        return _joined(name, [_slim(name, _of(rows[name], dev)) for rows in self._chunks()])


def _of(rows: np.ndarray, dev: int) -> np.ndarray:
    """Return the rows of a device. Mostly all rows are."""
    ours = rows["dev"] == dev
    return rows if ours.all() else taken(rows, ours)


def read(path: Path, partition: Partition | None = None) -> Records:
    """Read probes.bin; a partition's records get its number. Raises FileError with the invalid byte."""
    if partition is None:
        return Records(lambda: proberecords.chunks(path))
    return Records(lambda: partition.assign_chunks(proberecords.chunks(path)))


def _slim(name: str, rows: np.ndarray) -> np.ndarray:
    """Return a copy of the rows with only the needed fields."""
    kept = np.empty(rows.size, SLIM[name])
    for field in (SLIM[name].names or ()) if rows.size else ():
        kept[field] = rows[field]
    return kept


def _joined(name: str, parts: Iterable[np.ndarray]) -> np.ndarray:
    return joined([np.empty(0, SLIM[name]), *parts])


def _in_time(name: str, rows: np.ndarray) -> np.ndarray:
    """Sort by begin_ns; the parts of a name stay adjacent and in order."""
    if name == "name" or (rows["begin_ns"][1:] >= rows["begin_ns"][:-1]).all():
        return rows
    return taken(rows, np.argsort(rows["begin_ns"], kind="stable"))
