"""raw/device.bin: what the device says it was told to do (images/flash/log.c; docs/formats.md).

It is the one witness that is not of the kernel's block layer, and that an unwatched run has too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from analysis import events
from analysis.ledger.match import DISCARD, FLUSH, FUA, READ, WRITE
from base.errors import BadInput

MAGIC = b"CPFLASH1"
HEADER = np.dtype(
    [("magic", "S8"), ("entry_size", "<u4"), ("dev", "<u4"), ("entries", "<u8"), ("lost", "<u8")]
)
ENTRY = np.dtype(
    [
        ("begin_ns", "<u8"),  # CLOCK_MONOTONIC
        ("end_ns", "<u8"),  # when it was done; 0: refused
        ("sector", "<u8"),
        ("sectors", "<u4"),
        ("operation", "<u4"),  # REQ_OP_* and REQ_FUA of linux/blk_types.h
    ]
)
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


def read(path: Path) -> DeviceLog:
    """Read a log. Raises BadInput with the byte that is wrong."""
    data = path.read_bytes()
    if len(data) < HEADER.itemsize:
        raise BadInput(path, f"byte {len(data)}", "the header is cut short", f"{HEADER.itemsize} bytes")
    header = np.frombuffer(data, HEADER, 1)[0]
    if header["magic"] != MAGIC or header["entry_size"] != ENTRY.itemsize:
        raise BadInput(path, "byte 0", "not the header of a device's log", f"{MAGIC.decode()}, entries of 32")
    size, rest = divmod(len(data) - HEADER.itemsize, ENTRY.itemsize)
    if rest or size < header["entries"]:
        place = f"byte {len(data) - rest}"
        raise BadInput(path, place, "it is cut short", f"{header['entries']} entries of {ENTRY.itemsize}")
    entries = np.frombuffer(data, ENTRY, size, HEADER.itemsize)
    _check(path, entries)
    return DeviceLog(int(header["dev"]), int(header["lost"]), entries)


def _check(path: Path, entries: np.ndarray) -> None:
    begin, end, flush = entries["begin_ns"], entries["end_ns"], entries["operation"] == FLUSH
    wrong = ~np.isin(entries["operation"], list(_RWBS)) | ((end > 0) & (end < begin))
    wrong |= (begin | end | entries["sector"]) >> 63 > 0
    wrong |= flush != (entries["sectors"] == 0)
    wrong[1:] |= begin[1:] < begin[:-1]
    if wrong.any():
        at = HEADER.itemsize + int(np.argmax(wrong)) * ENTRY.itemsize
        raise BadInput(path, f"byte {at}", "no command can be so", "an operation, its sectors and times")


def commands(entries: np.ndarray) -> pl.DataFrame:
    """One row a command: begin_ns, end_ns, sector, sectors, rwbs, and kind as in events.BLOCK_KINDS.

    A device does not know which writes are metadata or synchronous: `rwbs` has no M and no S.
    """
    numbers = {name: entries[name].astype(np.int64) for name in ENTRY.names or ()}
    operation = pl.col("operation").replace_strict(_RWBS, return_dtype=pl.String)
    found = pl.DataFrame(numbers).with_columns(rwbs=operation).drop("operation")
    return found.with_columns(events.block_kind())
