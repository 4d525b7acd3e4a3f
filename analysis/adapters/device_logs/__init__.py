"""Readers of what devices log and count: one module for each driver that keeps a log, found by its name.

A module `<driver>.py` has one value READER of the class Reader.
"""

from __future__ import annotations

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

    # raw/device.bin → its commands, a witness. Raises BadInput
    read_log: Callable[[Path], DeviceLog]
    # (raw/board/device_time.txt, its log) → in what they disagree
    disagree: Callable[[Mapping[str, str], DeviceLog], list[str]]
    # (raw/board/device.txt, device_time.txt) → what it programmed and erased; None where nobody can tell
    wear: Callable[[Mapping[str, str], Mapping[str, str]], dict[str, Any] | None]


def of(cell: Cell) -> Reader | None:
    """Return the reader of a cell's device, None where it keeps no log. Raises UnknownDriverError."""
    device = devices.of(cell)
    if device is None or not device.logs:
        return None
    module = importlib.import_module(f"{__name__}.{cell.profiles['device']['driver']}")
    found: Reader = module.READER
    return found
