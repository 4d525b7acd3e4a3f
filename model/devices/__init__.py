"""What is to be known of a driver of block devices: one module here for each, found by its name.

A module `<driver>.py` has one value DEVICE of the class Device. Whatever else differs from one driver
to another is in playbooks/devices/<driver>.sh (what a board does with it), images/devices/<driver>/
(its module, if it is ours, and the attributes that a profile gives it) and experiments/device/*.yml
(profiles). Nothing lists them.
"""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from base.errors import BadInput
from model.cell import Cell

FOLDER = Path(__file__).resolve().parent


class UnknownDriverError(BadInput):
    """No module is named after that driver."""

    def __init__(self, driver: str) -> None:
        self.wrong, self.expected = f"no device driver {driver!r}", ", ".join(names())
        super().__init__("model/devices", "", self.wrong, self.expected)


@dataclass(frozen=True)
class Device:
    """One driver of block devices. What it logs and counts is read by analysis/adapters/device_logs/."""

    # MiB → the attribute that shows the size, and its value
    size: Callable[[int], dict[str, int]]
    # whether commitpath makes the device; one that it does not make is a lab board's own
    made: bool = True
    # parts of its profile of which each run must say something
    modelled: tuple[str, ...] = ()
    # whether it keeps a log of its commands, raw/device.bin
    logs: bool = False
    # its name on the board → folder of the files by which it shows past states (workloads/trials/trials.c);
    # None: it shows none
    history: Callable[[str], str] | None = None
    # whether it counts what it did: raw/board/device_time.txt
    counts: bool = False


@functools.cache
def names() -> tuple[str, ...]:
    """Every driver there is."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_")))


@functools.cache
def _modules() -> dict[str, Device]:
    return {name: importlib.import_module(f"{__name__}.{name}").DEVICE for name in names()}


def by_name(driver: str) -> Device:
    """The driver of that name. Raises UnknownDriverError."""
    if driver not in names():
        raise UnknownDriverError(driver)
    return _modules()[driver]


def device_of(cell: Cell) -> Device | None:
    """The driver of a cell's device, None where the cell names none. Raises UnknownDriverError."""
    driver = cell.profiles.get("device", {}).get("driver")
    return None if driver is None else by_name(str(driver))
