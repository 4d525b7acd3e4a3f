"""Class Device: a block device driver's size attribute, log, counters and time model; load one by its name.

Planning and analysis use it. A module for each driver has one value DEVICE. What a board does with a driver
is in playbooks/devices/<driver>.sh, its kernel module, if it is ours, in images/devices/<driver>/.
"""

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from base.errors import FileError
from model.cell import Cell

FOLDER = Path(__file__).resolve().parent


class UnknownDriverError(FileError):
    """No module of model/devices/ has this driver's name."""

    def __init__(self, driver: str) -> None:
        self.wrong, self.expected = f"no device driver {driver!r}", ", ".join(names())
        super().__init__("model/devices", "", self.wrong, self.expected)


@dataclass(frozen=True)
class Device:
    """One driver. analysis/adapters/device_logs/ reads its log and counters."""

    # MiB → the attribute that shows the size, and its value
    size: Callable[[int], dict[str, int]]
    # whether commitpath makes the device; if not, it is a lab board's own
    made: bool = True
    # parts of its profile that each run reads back
    modelled: tuple[str, ...] = ()
    # whether it keeps a log of its commands, raw/device.bin
    logs: bool = False
    # name on the board → folder of its files that show past states (workloads/trials/trials.c); None: no
    # files
    history: Callable[[str], str] | None = None
    # whether it has counters, raw/board/device_time.txt
    counts: bool = False
    # parameters → those that contradict physics, with the nearest possible value and the reason
    impossible: Callable[[Mapping[str, int]], dict[str, tuple[int, str]]] = lambda _: {}
    # sources of its module that compute completion times and compile on a host, too (images/flash_model.py)
    model_sources: tuple[str, ...] = ()


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all drivers."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_")))


def by_name(driver: str) -> Device:
    """Return a driver. Raises UnknownDriverError."""
    if driver not in names():
        raise UnknownDriverError(driver)
    device: Device = importlib.import_module(f"{__name__}.{driver}").DEVICE
    return device


def with_model() -> str:
    """Return the driver that has a model of its times."""
    (driver,) = (name for name in names() if by_name(name).model_sources)
    return driver


def device_of(cell: Cell) -> Device | None:
    """Return the driver of a cell's device, None if the cell has none. Raises UnknownDriverError."""
    driver = cell.profiles.get("device", {}).get("driver")
    return None if driver is None else by_name(str(driver))
