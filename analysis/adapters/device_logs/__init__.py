"""Find the reader of a block device driver's own command log and counters: a module for each driver.

Module `<driver>.py` defines READER, an instance of Reader. It is found by its name.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.adapters.devicelog import DeviceLog
from model import devices
from model.cell import Cell


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
