"""What known-sequence.sh left of its writes and syncs: what was done, what was counted, what was recorded.

playbooks/board/known-sequence.sh says which files those are; analysis/instrument/probe_selftest.py compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.adapters import covariates, partition, proberecords
from analysis.adapters.proberecords import TYPES
from analysis.run_files.reading import read_pairs, read_text
from base.errors import BadInput

READ, WRITE, FLUSH, PREFLUSH = 0, 1, 2, 1 << 18  # REQ_OP_*, REQ_PREFLUSH
# what /sys/block/<disk>/stat counts, by its place in the line (Documentation/block/stat.rst)
_STAT = {"write_ios": 4, "write_sectors": 6, "flush_ios": 15}


@dataclass(frozen=True)
class File:
    """A file of the sequence: what was written to it and how often it was synced, by how."""

    inode: int
    pages: int
    syncs: dict[str, int]  # fsync, fdatasync, kernel (O_DSYNC)
    name: str

    @property
    def is_directory(self) -> bool:
        return self.name == "."


@dataclass(frozen=True)
class Known:
    """What known-sequence.sh left: what was done, what the kernel counted of it, what was recorded."""

    files: list[File]
    stat: dict[str, int]
    counted: dict[str, int]  # by the filesystem itself: record's type → how many
    disk: int  # whose the commands are, and the bios: of a partition its own number
    filesystem: int
    rows: np.ndarray  # RECORD, begun in the sequence's time, of any device
    lost: tuple[int, int]
    cached: bool  # whether the device has a volatile cache, which is flushed
    # of a partition: how many flushes its disk counted, and how many were recorded at least and at most
    flushes: tuple[int, int, int] | None = None

    def of(self, name: str, device: int | None = None) -> np.ndarray:
        """The records of a type, of a device."""
        kind = self.rows["type"] == TYPES[name]
        found: np.ndarray = self.rows[kind & ((self.rows["dev"] == device) | (device is None))]
        return found

    @property
    def counts_empty(self) -> bool | None:
        """Whether the device's counter of writes has the empty flushes among them, as it has since Linux 6.1;
        None where it has neither as many as the writes nor as many as both."""
        commands, bios = self.of("block", self.disk), self.of("bio", self.disk)
        writes = int((operation(commands) == WRITE).sum())
        empty = int(((bios["n"] == 0) & (bios["b"] & PREFLUSH != 0)).sum())
        return {writes + empty: True, writes: False}.get(self.stat["write_ios"])


def read(raw: Path) -> Known:
    """Read raw/ as known-sequence.sh leaves it. Raises BadInput."""
    folder = raw / "known"
    disk, filesystem = (_device(folder / "devices", line) for line in _lines(folder / "devices", 2))
    begin, end = (float(line) * 1e9 for line in _lines(folder / "window", 2))
    files = []
    for line in _lines(folder / "files"):
        inode, pages, fsyncs, fdatasyncs, dsyncs, name = line.split(" ", 5)
        syncs = {"fsync": int(fsyncs), "fdatasync": int(fdatasyncs), "kernel": int(dsyncs)}
        files.append(File(int(inode), int(pages), syncs, name))
    rows = proberecords.read(raw / "probes.bin")
    flushes, device = None, raw / "board/device.txt"
    if device.is_file() and (beside := partition.of(read_pairs(device))):
        disk, rows = beside.dev, beside.alone(rows)
        is_flush = (rows["type"] == TYPES["block"]) & (rows["dev"] == disk) & (operation(rows) == FLUSH)
        flushes = partition.bracket(covariates.read(raw), rows["end_ns"][is_flush])
        if flushes is None:
            raise BadInput(raw / "board/covariates.json", "", "no flushes of the disk, or no times", "both")
    last, inside = rows[-1], (rows["begin_ns"] >= begin) & (rows["begin_ns"] < end)
    # a thread is named once
    inside |= rows["type"] == TYPES["comm"]
    return Known(
        files=files,
        stat=_difference(folder, "stat", _stat),
        counted=_difference(folder, "counters", _counters),
        disk=disk,
        filesystem=filesystem,
        rows=rows[inside],
        lost=(int(last["n"]), int(last["a"])),
        flushes=flushes,
        cached=_cached(raw / "board/queue.txt"),
    )


def operation(rows: np.ndarray) -> np.ndarray:
    """Which each command or bio is."""
    return np.asarray(rows["b"] & 0xFF)


def _cached(path: Path) -> bool:
    """Without a volatile cache the kernel drops flushes (queue/write_cache in Documentation/ABI)."""
    modes, mode = {"write back": True, "write through": False}, read_pairs(path).get("write_cache")
    if mode not in modes:
        raise BadInput(path, "write_cache", repr(mode), " or ".join(modes))
    return modes[mode]


def _lines(path: Path, number: int | None = None) -> list[str]:
    lines = read_text(path).splitlines()
    if not lines or number not in (None, len(lines)):
        raise BadInput(path, "", f"{len(lines)} lines", f"{number or 'some'}")
    return lines


def _device(path: Path, line: str) -> int:
    major, _, minor = line.partition(":")
    if not (major.isdigit() and minor.isdigit()):
        raise BadInput(path, "", repr(line), "MAJOR:MINOR")
    return int(major) << 20 | int(minor)


def _difference(folder: Path, name: str, parse: Callable[[Path], dict[str, int]]) -> dict[str, int]:
    begin, end = (parse(folder / f"{name}.{edge}") for edge in ("begin", "end"))
    return {key: end[key] - begin[key] for key in begin}


def _stat(path: Path) -> dict[str, int]:
    fields = _lines(path, 1)[0].split()
    return {name: int(fields[place]) for name, place in _STAT.items()}


def _counters(path: Path) -> dict[str, int]:
    return {name: int(number) for name, number in (line.split() for line in read_text(path).splitlines())}
