"""raw/probes.bin: the records of each type, all at once or, of those that are many, in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.adapters import proberecords
from analysis.adapters.proberecords import CHUNK, RECORD, TYPES, joined, taken
from analysis.ledger.arrays import distinct

# The many: what there is for each block command. The ledger takes them in chunks.
MANY = ("block", "bio", "pages")
_NO_DEVICE = ("attached", "detached", "off_cpu", "comm")

# What the ledger needs of the types that there are a few of for each transaction.
_SLIM = {
    **{"sync": ("flags", "tid", "dev", "n", "a"), "flush": ("tid", "dev"), "off_cpu": ("tid",)},
    **{"jbd2": ("flags", "tid", "dev", "n", "a"), "jbd2_wait": ("tid", "dev", "a")},
    **{"data_wait": ("tid", "dev"), "node_wait": ("tid", "dev"), "checkpoint": ("tid", "dev", "n")},
}

Few = dict[str, np.ndarray]  # RECORD by the type's name, in the order of begin_ns


class Chunk(NamedTuple):
    """Records of MANY that are next to each other in the file."""

    block: np.ndarray
    bio: np.ndarray
    pages: np.ndarray


class Records:
    """All records, in the order of the ring: each is written when what it tells of has ended."""

    def __init__(self, first: Iterator[np.ndarray], again: Callable[[], Iterator[np.ndarray]]) -> None:
        """`first` goes through all of them, `again` once more each time it is called."""
        self._chunks = again
        parts: dict[str, list[np.ndarray]] = {
            name: [_slim(name, np.empty(0, RECORD))] for name in TYPES if name not in MANY
        }
        devices: set[int] = set()
        bios, low, high = 0, 2**64, -1
        for rows in first:
            kind_of_all = kind = np.ascontiguousarray(rows["type"])
            if (serial := rows["d"][kind == TYPES["bio"]]).size:
                bios, low, high = bios + serial.size, min(low, serial.min()), max(high, serial.max())
            rest = np.flatnonzero((kind < TYPES["block"]) | (kind > TYPES["pages"]))
            few, kind = taken(rows, rest), kind[rest]
            devices.update(distinct(rows["dev"][kind_of_all == TYPES["block"]]))
            for name, found in parts.items():
                found.append(_slim(name, taken(few, kind == TYPES[name])))
        self.devices = sorted(devices)  # that got block commands
        # all bios of all devices have numbers, one after the other
        self.lost_bios = int(high) - int(low) + 1 - bios if bios else 0
        self._few = {name: _in_time(name, joined(found)) for name, found in parts.items()}

    def few(self, dev: int) -> Few:
        """Return all records but MANY of one device, and those that have no device."""
        return {name: rows if name in _NO_DEVICE else _of(rows, dev) for name, rows in self._few.items()}

    def many(self, dev: int) -> Iterator[Chunk]:
        """Return the records of MANY of one device, chunk by chunk."""
        for rows in self._chunks():
            kind = np.where(rows["dev"] == dev, rows["type"], 0)
            yield Chunk(*(taken(rows, np.flatnonzero(kind == TYPES[name])) for name in MANY))

    def bios(self, dev: int) -> np.ndarray:
        """Return the bios of one device, in the order of the file."""
        wanted = TYPES["bio"]
        found = [taken(rows, (rows["type"] == wanted) & (rows["dev"] == dev)) for rows in self._chunks()]
        return joined([np.empty(0, RECORD), *found])


def _of(rows: np.ndarray, dev: int) -> np.ndarray:
    """Return the rows of a device: mostly all."""
    ours = rows["dev"] == dev
    return rows if ours.all() else taken(rows, ours)


def of_array(rows: np.ndarray) -> Records:
    """Return records that are in memory."""

    def chunks() -> Iterator[np.ndarray]:
        return (rows[first : first + CHUNK] for first in range(0, rows.size, CHUNK))

    return Records(chunks(), chunks)


def read(path: Path) -> Records:
    """Read probes.bin. Raises BadInput with the byte that is wrong."""
    return Records(proberecords.chunks(path), lambda: proberecords.chunks(path, checked=True))


def _slim(name: str, rows: np.ndarray) -> np.ndarray:
    """Return the rows without the fields that are not needed."""
    if name not in _SLIM:
        return rows
    fields = ("begin_ns", "end_ns", *_SLIM[name])
    slim = np.empty(rows.size, np.dtype([(field, RECORD[field]) for field in fields], align=True))
    for field in fields:
        slim[field] = rows[field]
    return slim


def _in_time(name: str, found: np.ndarray) -> np.ndarray:
    """Sort by begin_ns; the parts of a name stay as they are, one after the other."""
    if name == "name" or (found["begin_ns"][1:] >= found["begin_ns"][:-1]).all():
        return found
    return taken(found, np.argsort(found["begin_ns"], kind="stable"))
