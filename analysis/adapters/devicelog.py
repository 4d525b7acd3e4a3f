"""The commands that a simulated device logged itself, as an array; compare two logs, make a table of one.

The log is independent of the kernel's block layer, and unwatched runs have one too. device_logs/ reads it.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.schemas import events
from model.block_operations import DISCARD, FLUSH, FUA, READ, WRITE

ENTRY = np.dtype(
    [
        ("begin_ns", "<u8"),  # CLOCK_MONOTONIC
        ("end_ns", "<u8"),  # 0: refused
        ("sector", "<u8"),
        ("sectors", "<u4"),
        ("operation", "<u4"),  # REQ_OP_* and REQ_FUA of linux/blk_types.h
    ]
)
# The fields of a command except its times.
_KEY = ["operation", "sector", "sectors"]
# Operations in blkparse's letters, as far as a device knows them.
_RWBS = {READ: "R", WRITE: "W", FLUSH: "FF", DISCARD: "D", WRITE | FUA: "WF"}


@dataclass(frozen=True)
class DeviceLog:
    """The commands of one device, in the order of arrival."""

    dev: int  # major << 20 | minor
    lost: int  # commands for which the log had no room
    entries: np.ndarray  # ENTRY

    @property
    def device(self) -> str:
        """The device as major:minor."""
        return events.device_name(self.dev)

    def within(self, begin: int, end: int) -> np.ndarray:
        """Return the commands that arrived in [begin, end)."""
        first, behind = np.searchsorted(self.entries["begin_ns"].astype(np.int64), [begin, end])
        return self.entries[first:behind]


def command_keys(entries: np.ndarray) -> list[tuple[int, ...]]:
    """Return operation, sector and size of each command."""
    keys: list[tuple[int, ...]] = entries[_KEY].tolist()
    return keys


def common_prefix(own: np.ndarray, other: np.ndarray) -> int:
    """Return the number of commands, from the first on, that two devices got in the same order."""
    both = min(own.size, other.size)
    differs = np.flatnonzero(own[:both][_KEY] != other[:both][_KEY])
    return int(differs[0]) if differs.size else both


def invalid_entries(entries: np.ndarray) -> np.ndarray:
    """Return which entries describe an impossible command."""
    begin, end, flush = entries["begin_ns"], entries["end_ns"], entries["operation"] == FLUSH
    wrong = ~np.isin(entries["operation"], list(_RWBS)) | ((end > 0) & (end < begin))
    wrong |= (begin | end | entries["sector"]) >> 63 > 0
    wrong |= flush != (entries["sectors"] == 0)
    wrong[1:] |= begin[1:] < begin[:-1]
    return wrong


def commands(entries: np.ndarray) -> pl.DataFrame:
    """Return begin_ns, end_ns, sector, sectors, rwbs and kind (events.BLOCK_KINDS) of each command.

    `rwbs` has no M and no S: a device does not know which writes are metadata or synchronous.
    """
    numbers = {name: entries[name].astype(np.int64) for name in ENTRY.names or ()}
    operation = pl.col("operation").replace_strict(_RWBS, return_dtype=pl.String)
    table = pl.DataFrame(numbers).with_columns(rwbs=operation).drop("operation")
    return table.with_columns(events.block_kind())
