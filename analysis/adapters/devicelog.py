"""What a device says it was told to do, as its driver's module reads it (model/devices/).

It is the one witness that is not of the kernel's block layer, and that an unwatched run has too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.schemas import events
from model.block_operations import DISCARD, FLUSH, FUA, READ, WRITE

ENTRY = np.dtype(
    [
        ("begin_ns", "<u8"),  # CLOCK_MONOTONIC
        ("end_ns", "<u8"),  # when it was done; 0: refused
        ("sector", "<u8"),
        ("sectors", "<u4"),
        ("operation", "<u4"),  # REQ_OP_* and REQ_FUA of linux/blk_types.h
    ]
)
# What a command is, whenever it came.
_WHAT = ["operation", "sector", "sectors"]
# What an operation is, in blkparse's letters as far as a device knows them.
_RWBS = {READ: "R", WRITE: "W", FLUSH: "FF", DISCARD: "D", WRITE | FUA: "WF"}


@dataclass(frozen=True)
class DeviceLog:
    """The commands of one device, in the order in which they came."""

    dev: int  # major << 20 | minor
    lost: int  # commands that found no place in it
    entries: np.ndarray  # ENTRY

    @property
    def device(self) -> str:
        """The device as major:minor."""
        return events.device_name(self.dev)

    def within(self, begin: int, end: int) -> np.ndarray:
        """Return the commands that came in [begin, end)."""
        first, behind = np.searchsorted(self.entries["begin_ns"].astype(np.int64), [begin, end])
        return self.entries[first:behind]


def what(entries: np.ndarray) -> list[tuple[int, ...]]:
    """Return what each command is, whenever it came."""
    found: list[tuple[int, ...]] = entries[_WHAT].tolist()
    return found


def alike(own: np.ndarray, other: np.ndarray) -> int:
    """Return how many commands two devices got alike and in the same order, from the first on."""
    both = min(own.size, other.size)
    differs = np.flatnonzero(own[:both][_WHAT] != other[:both][_WHAT])
    return int(differs[0]) if differs.size else both


def same(own: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two devices got the same commands, in any order."""
    return np.array_equal(np.sort(own[_WHAT]), np.sort(other[_WHAT]))


def impossible(entries: np.ndarray) -> np.ndarray:
    """Return which entries are of no command that there can be."""
    begin, end, flush = entries["begin_ns"], entries["end_ns"], entries["operation"] == FLUSH
    wrong = ~np.isin(entries["operation"], list(_RWBS)) | ((end > 0) & (end < begin))
    wrong |= (begin | end | entries["sector"]) >> 63 > 0
    wrong |= flush != (entries["sectors"] == 0)
    wrong[1:] |= begin[1:] < begin[:-1]
    return wrong


def commands(entries: np.ndarray) -> pl.DataFrame:
    """One row a command: begin_ns, end_ns, sector, sectors, rwbs, and kind as in events.BLOCK_KINDS.

    A device does not know which writes are metadata or synchronous: `rwbs` has no M and no S.
    """
    numbers = {name: entries[name].astype(np.int64) for name in ENTRY.names or ()}
    operation = pl.col("operation").replace_strict(_RWBS, return_dtype=pl.String)
    found = pl.DataFrame(numbers).with_columns(rwbs=operation).drop("operation")
    return found.with_columns(events.block_kind())
