"""flashsim (images/devices/flashsim/README.md), and the log that it keeps of its commands (log.c there)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analysis.adapters.devicelog import ENTRY, DeviceLog, impossible
from analysis.devices import Device, _flash_model, _flash_wear
from analysis.ledger.match import DISCARD, FLUSH, FUA, OP, READ, WRITE
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


def _told(entries: np.ndarray) -> dict[str, int]:
    """What the device's counters say of the commands in its log; `flushes` are clean and dirty ones."""
    operation = entries["operation"]
    is_write, is_read, is_discard = ((operation & OP) == kind for kind in (WRITE, READ, DISCARD))
    size = entries["sectors"].astype(np.int64) * 512
    taken = entries["end_ns"].astype(np.int64) - entries["begin_ns"].astype(np.int64)
    found = {
        "time_ns": taken.sum(),
        "reads": is_read.sum(),
        "writes": is_write.sum(),
        "read_bytes": size[is_read].sum(),
        "write_bytes": size[is_write].sum(),
        "fua_writes": (operation & FUA > 0).sum(),
        "flushes": (operation == FLUSH).sum(),
        "discards": is_discard.sum(),
        "discard_bytes": size[is_discard].sum(),
    }
    return {name: int(number) for name, number in found.items()}


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,18}", text) else None


def disagree(counters: Mapping[str, str], log: DeviceLog) -> list[str]:
    """Return in what the device's counters tell of other commands than its log; or of fewer, where they
    were read after it and more had come.

    The model adds each part of a command's time to time_ns (model.c), and counts what it does.
    """
    number = _count(counters.get("log_entries"))
    if log.lost or number is None:
        return []  # the checks of what was lost say so
    counted = {name: _count(text) for name, text in counters.items()}
    clean, dirty = (counted.get(f"flushes_{kind}") for kind in ("clean", "dirty"))
    counted["flushes"] = None if clean is None or dirty is None else clean + dirty
    found = []
    for name, had in _told(log.entries[log.entries["end_ns"] > 0]).items():
        said = counted.get(name)
        if said is None or had > said or (had < said and number == log.entries.size):
            found.append(f"raw/device.bin has {name} {had}, raw/board/device_time.txt says {said}")
    return found


# model.h: what it divides by, and queue.c: sectors of a command that is no discard
_DIVISORS = ("bus_mb_s", "dies", "read_bytes", "program_bytes", "unit_kib")
_MOST_SECTORS, _MOST_DIES = 1024, 64
_LOG_ENTRIES = 1 << 20  # log.c
_PARAMETERS = (*_flash_model.PARAMETERS, "erase_kib", "gc_blocks", "sectors", "spare_permille")


def untimely(parameters: Mapping[str, str], counters: Mapping[str, str], log: DeviceLog | None) -> list[str]:
    """Return which parts of the device's time are not what its parameters make of what it counted (model.c),
    how many commands in its log took less than these parts, and which took another time than the model says.
    """
    each = {name: _count(parameters.get(name)) for name in _PARAMETERS}
    if unread := sorted(name for name, number in each.items() if number is None):
        return [f"raw/board/device.txt does not say {', '.join(unread)}"]
    known = {name: number for name, number in each.items() if number is not None}
    had = {name: number for name, text in counters.items() if (number := _count(text)) is not None}
    if wrong := [name for name in _DIVISORS if not known[name]] + ["dies"] * (known["dies"] > _MOST_DIES):
        return [f"raw/board/device.txt has {name} {known[name]}" for name in wrong]
    found = _parts(known, had)
    return found if log is None else found + _too_quick(known, log.entries) + _otherwise(known, had, log)


def wear(parameters: Mapping[str, str], counters: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what the flash programmed and erased; None where the files do not say."""
    each = {name: _count(parameters.get(name)) for name in (*_PARAMETERS, "erase_ns")}
    had = {name: number for name, text in counters.items() if (number := _count(text)) is not None}
    known = {name: number for name, number in each.items() if number is not None}
    if each.keys() != known.keys() or not known["program_bytes"]:
        return None
    return _flash_wear.wear(known, had)


def _parts(each: Mapping[str, int], had: Mapping[str, int]) -> list[str]:
    """Return the parts of the time that are not the parameters times the counters."""
    parts = {
        "time_command_ns": {"reads": "command_ns", "writes": "command_ns", "discards": "command_ns"},
        "time_flush_ns": {"flushes_clean": "flush_clean_ns", "flushes_dirty": "flush_dirty_ns"},
        "time_fua_ns": {"fua_writes": "fua_ns"},
        "time_discard_ns": {"discards": "discard_ns"},
    }
    due = {
        part: sum(had.get(count, 0) * each[name] for count, name in of.items()) for part, of in parts.items()
    }
    due["time_ns"] = sum(number for name, number in had.items() if re.fullmatch("time_[a-z]+_ns", name))
    found = [
        f"raw/board/device_time.txt has {name} {had.get(name)}, by what it counted it is {number}"
        for name, number in due.items()
        if had.get(name) != number
    ]
    # of the programs of a write that waits for them the last one is its time; others wait for none
    programmed = had.get("fua_writes" if each["cache_kib"] else "writes", 0)
    if (program := had.get("time_program_ns", 0)) < programmed * each["program_ns"]:
        found.append(f"raw/board/device_time.txt has time_program_ns {program}, of {programmed} writes")
    return found


def _too_quick(each: Mapping[str, int], entries: np.ndarray) -> list[str]:
    """Return how many commands took less than what each of its kind does."""
    entries = entries[entries["end_ns"] > 0]
    kind, fua = entries["operation"] & OP, entries["operation"] & FUA > 0
    programmed = (kind == WRITE) & (fua | (each["cache_kib"] == 0))
    flush = min(each["flush_clean_ns"], each["flush_dirty_ns"])
    least = np.where(kind == FLUSH, flush, each["command_ns"]) + (kind == DISCARD) * each["discard_ns"]
    least += fua * each["fua_ns"] + programmed * each["program_ns"]
    took = entries["end_ns"].astype(np.int64) - entries["begin_ns"].astype(np.int64)
    wrong = np.flatnonzero(took < least).tolist()
    if not wrong:
        return []
    return [f"raw/device.bin: {len(wrong)} commands were too quick: first {wrong[0]}, {took[wrong[0]]} ns"]


def _otherwise(each: Mapping[str, int], had: Mapping[str, int], log: DeviceLog) -> list[str]:
    """Return how many commands took another time than the model makes of the log, and which parts do.

    A full log has the first commands. That of a device that collected garbage is not made again.
    """
    if log.lost and log.entries.size < _LOG_ENTRIES:
        return [f"raw/device.bin lost {log.lost} commands with {log.entries.size} of {_LOG_ENTRIES} in it"]
    entries = log.entries[log.entries["end_ns"] > 0]  # the model knows of no other
    if had.get("gc_busy_ns"):
        said = "raw/board/device_time.txt says that garbage was collected, where nothing was short of room"
        return [] if _may_collect(each, had) else [said]
    large = (entries["sectors"] > _MOST_SECTORS) & ((entries["operation"] & OP) != DISCARD)
    if large.any():
        at = int(np.argmax(large))
        return [f"raw/device.bin: command {at} has {entries['sectors'][at]} sectors, {_MOST_SECTORS} at most"]
    ends, parts = _flash_model.made_again(each, entries)
    wrong = np.flatnonzero(ends != entries["end_ns"].astype(np.int64)).tolist()
    if wrong:
        took, due = (
            int(end[wrong[0]]) - int(entries["begin_ns"][wrong[0]]) for end in (entries["end_ns"], ends)
        )
        return [
            f"raw/device.bin: {len(wrong)} commands took another time than the device's model says: first "
            f"{wrong[0]}, {took} ns, by the model {due} ns"
        ]
    if log.lost or had.get("log_entries") != log.entries.size:
        return []  # more came before the counters were read
    return [
        f"raw/board/device_time.txt has {name} {number}, by the model it is {parts[name[5:-3]]}"
        for name, number in had.items()
        if re.fullmatch("time_[a-z]+_ns", name) and number != parts[name[5:-3]]
    ]


def _may_collect(each: Mapping[str, int], had: Mapping[str, int]) -> bool:
    """Whether so much was written that free blocks may have run low (media.c).

    At its reset a device held no more than at the end, and what was discarded.
    """
    if not each["gc_blocks"]:
        return False
    half = each["sectors"] // 2
    physical = (half + half * each["spare_permille"] // 1000) * 1024
    used = sum(had.get(name, 0) for name in ("held_bytes", "discard_bytes", "write_bytes"))
    return physical - used < (each["gc_blocks"] + 1) * each["erase_kib"] * 1024


DEVICE = Device(
    size=lambda mib: {"sectors": mib * 2048},
    modelled=("geometry", "timing"),
    read_log=read_log,
    history=lambda name: f"/sys/block/{name}/flashsim",
    counts=True,
    disagree=disagree,
    untimely=untimely,
    wear=wear,
    # its controller has one command at a time (model.c)
    each_takes=lambda parameters: _count(parameters.get("command_ns")) or 0,
)
