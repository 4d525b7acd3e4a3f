"""Read the command log of flashsim (raw/device.bin), compare it with its counters, and compute flash wear."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analysis.adapters.device_logs import ENTRY, DeviceLog, Reader, invalid_entries
from base.errors import FileError
from model.block_operations import DISCARD, FLUSH, FUA, OP, READ, WRITE

MAGIC = b"CPFLASH1"
_LOG_ENTRIES = 1 << 20  # log.c
HEADER = np.dtype(
    [("magic", "S8"), ("entry_size", "<u4"), ("dev", "<u4"), ("entries", "<u8"), ("lost", "<u8")]
)


def read_log(path: Path) -> DeviceLog:
    """Read raw/device.bin (docs/reference/formats.md). Raises FileError with the byte that is wrong."""
    data = path.read_bytes()
    if len(data) < HEADER.itemsize:
        raise FileError(path, f"byte {len(data)}", "the header is cut short", f"{HEADER.itemsize} bytes")
    header = np.frombuffer(data, HEADER, 1)[0]
    if header["magic"] != MAGIC or header["entry_size"] != ENTRY.itemsize:
        raise FileError(
            path, "byte 0", "not the header of a device's log", f"{MAGIC.decode()}, entries of 32"
        )
    size, rest = divmod(len(data) - HEADER.itemsize, ENTRY.itemsize)
    if rest or size < header["entries"]:
        place = f"byte {len(data) - rest}"
        raise FileError(path, place, "it is cut short", f"{header['entries']} entries of {ENTRY.itemsize}")
    entries = np.frombuffer(data, ENTRY, size, HEADER.itemsize)
    wrong = invalid_entries(entries)
    if wrong.any():
        at = HEADER.itemsize + int(np.argmax(wrong)) * ENTRY.itemsize
        raise FileError(path, f"byte {at}", "an impossible command", "an operation, its sectors and times")
    return DeviceLog(int(header["dev"]), int(header["lost"]), entries)


def _logged(entries: np.ndarray) -> dict[str, int]:
    """Return the counter values due for the commands of a log; `flushes` are clean and dirty ones."""
    operation = entries["operation"]
    is_write, is_read, is_discard = ((operation & OP) == kind for kind in (WRITE, READ, DISCARD))
    size = entries["sectors"].astype(np.int64) * 512
    duration = entries["end_ns"].astype(np.int64) - entries["begin_ns"].astype(np.int64)
    totals = {
        "time_ns": duration.sum(),
        "reads": is_read.sum(),
        "writes": is_write.sum(),
        "read_bytes": size[is_read].sum(),
        "write_bytes": size[is_write].sum(),
        "fua_writes": (operation & FUA > 0).sum(),
        "flushes": (operation == FLUSH).sum(),
        "discards": is_discard.sum(),
        "discard_bytes": size[is_discard].sum(),
    }
    return {name: int(number) for name, number in totals.items()}


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,18}", text) else None


def contradictions(counters: Mapping[str, str], log: DeviceLog) -> list[str]:
    """Return messages on counters that disagree with the log.

    The model adds each part of a command's time to time_ns (model.c). A counter may be higher if commands
    arrived between the reading of the log and of the counters.
    """
    number = _count(counters.get("log_entries"))
    if log.lost and log.entries.size < _LOG_ENTRIES:
        return [f"raw/device.bin lost {log.lost} commands with {log.entries.size} of {_LOG_ENTRIES} in it"]
    if log.lost or number is None:
        return []  # reported by the checks for losses
    counted = {name: _count(text) for name, text in counters.items()}
    clean, dirty = (counted.get(f"flushes_{kind}") for kind in ("clean", "dirty"))
    counted["flushes"] = None if clean is None or dirty is None else clean + dirty
    messages = []
    for name, logged in _logged(log.entries[log.entries["end_ns"] > 0]).items():
        count = counted.get(name)
        if count is None or logged > count or (logged < count and number == log.entries.size):
            messages.append(f"raw/device.bin has {name} {logged}, raw/board/device_time.txt has {count}")
    return messages


_WEAR = {
    *("write_bytes", "programs", "program_bytes", "merges", "unit_switches", "erases", "gc_bytes"),
    "merge_busy_ns",
}
_PARAMETERS = ("erase_ns", "program_bytes", "program_kib_ns", "program_ns", "read_bytes", "read_ns")


def wear(parameters: Mapping[str, str], counters: Mapping[str, str]) -> dict[str, Any] | None:
    """Return programs, erases, bytes and write amplification of the flash; None if a value is missing.

    The model charges a merge with time only (media.c). The copied bytes are computed from that time minus one
    erase, with the profile's times to read and program. Garbage collection is charged in the same way.
    """
    values = {name: number for name in _PARAMETERS if (number := _count(parameters.get(name))) is not None}
    counts = {name: number for name, text in counters.items() if (number := _count(text)) is not None}
    if len(values) < len(_PARAMETERS) or not values["program_bytes"] or not counts.keys() >= _WEAR:
        return None
    # older runs have no such counters
    partial, padding, folded = (
        counts.get(name, 0) for name in ("partial_merges", "padding_bytes", "fold_bytes")
    )
    closed = counts["merges"] + partial
    unit, page = values["program_bytes"], max(values["read_bytes"], 1)
    reads = -(-unit // page)
    copy_ns = reads * values["read_ns"] + values["program_ns"] + values["program_kib_ns"] * unit // 1024
    # the merges' time includes the erases of units that were filled from start to end
    copying = counts["merge_busy_ns"] - (closed + counts["unit_switches"]) * values["erase_ns"]
    copied = max(copying, 0) // copy_ns if copy_ns else 0
    programmed = counts["program_bytes"] + padding + copied * unit + counts["gc_bytes"] + folded
    return {
        "host_bytes": counts["write_bytes"],
        "programmed_bytes": programmed,
        "programs": counts["programs"] + copied + (counts["gc_bytes"] + folded) // unit,
        "padding_bytes": padding,
        "erases": counts["erases"] + closed,
        "merges": counts["merges"],
        "partial_merges": partial,
        "merge_programs": copied,
        "merge_bytes": copied * unit,
        "gc_bytes": counts["gc_bytes"],
        "fold_bytes": folded,
        "free_blocks": counts.get("free_blocks"),
        "write_amplification": programmed / counts["write_bytes"] if counts["write_bytes"] else None,
    }


READER = Reader(read_log, contradictions, wear)
