"""Define a simulated device's own command log; compare it with the ledger or another log; find its reader.

The log is independent of the kernel's block layer, and unwatched runs have one too. Module `<driver>.py` of
each block device driver with a log defines READER, an instance of Reader. It is found by its name.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.schemas import events
from base.arrays import Ints, ints
from model import devices
from model.block_operations import DISCARD, FLUSH, FUA, READ, WRITE
from model.cell import Cell

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


@dataclass(frozen=True)
class Reader:
    """The reader of one driver's files."""

    # raw/device.bin → its commands. Raises FileError
    read_log: Callable[[Path], DeviceLog]
    # (raw/board/device_time.txt, log) → messages on differences
    contradictions: Callable[[Mapping[str, str], DeviceLog], list[str]]
    # (raw/board/device.txt, device_time.txt) → programs and erases; None if unknown
    wear: Callable[[Mapping[str, str], Mapping[str, str]], dict[str, Any] | None]


def find_reader(cell: Cell) -> Reader | None:
    """Return the reader for a cell's device; None if it keeps no log. Raises UnknownDriverError."""
    device = devices.device_of(cell)
    if device is None or not device.logs:
        return None
    return reader_of(str(cell.profiles["device"]["driver"]))


def reader_of(driver: str) -> Reader:
    """Return the reader for a driver that keeps a log."""
    reader: Reader = importlib.import_module(f"{__name__}.{driver}").READER
    return reader


# Columns that identify a command in both; a device cannot tell metadata writes.
ORDER = ("sector", "sectors", "kind", "begin_ns")


def aligned(ledger: pl.DataFrame, log: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return both tables in one order, so that the n-th command of a kind and place pairs with the n-th.

    log: as `commands` returns it. Both get the columns of ORDER, end_ns and `number`, their original index.
    They hold the same commands if the row counts and the first three columns are equal.
    """
    own = ledger.select(
        pl.col("sector").fill_null(0),
        pl.col("rwbs").cast(pl.String),
        sectors=pl.col("bytes") // 512,
        begin_ns="issue_ns",
        end_ns="complete_ns",
    ).with_columns(events.block_kind().replace("write metadata", "write"))
    first, second = (table.with_row_index("number").sort(ORDER) for table in (own, log))
    return first, second


def ledger_numbers(ledger: pl.DataFrame, log: pl.DataFrame) -> Ints | None:
    """Return the ledger's index of each command of the log; None if the two do not hold the same commands."""
    own, seen = aligned(ledger, log)
    columns = list(ORDER[:3])
    if not own.select(columns).equals(seen.select(columns)):
        return None
    places = np.empty(seen.height, np.int64)
    places[ints(seen["number"])] = ints(own["number"])
    return places
