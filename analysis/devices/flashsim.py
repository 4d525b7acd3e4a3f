"""flashsim (images/devices/flashsim/README.md), and the log that it keeps of its commands (log.c there)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.adapters.devicelog import ENTRY, DeviceLog, impossible
from analysis.devices import Device
from base.errors import BadInput

MAGIC = b"CPFLASH1"
HEADER = np.dtype(
    [("magic", "S8"), ("entry_size", "<u4"), ("dev", "<u4"), ("entries", "<u8"), ("lost", "<u8")]
)


def read_log(path: Path) -> DeviceLog:
    """Read raw/device.bin (docs/formats.md). Raises BadInput with the byte that is wrong."""
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
    wrong = impossible(entries)
    if wrong.any():
        at = HEADER.itemsize + int(np.argmax(wrong)) * ENTRY.itemsize
        raise BadInput(path, f"byte {at}", "no command can be so", "an operation, its sectors and times")
    return DeviceLog(int(header["dev"]), int(header["lost"]), entries)


DEVICE = Device(
    size=lambda mib: {"sectors": mib * 2048},
    modelled=("geometry", "timing"),
    read_log=read_log,
    counts=True,
    earlier=frozenset(("flash",)),
)
