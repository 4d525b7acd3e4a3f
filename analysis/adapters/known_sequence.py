"""Read a board's self-test of the probes: known writes and syncs, kernel counters, and probe records.

playbooks/board/known-sequence.sh made them; analysis/instrument/probe_selftest.py compares them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.adapters import covariates, proberecords
from analysis.adapters.drivertables import STAT_FIELDS
from analysis.adapters.partition import device_number, flush_bounds, read_partition
from analysis.adapters.proberecords import TYPES
from analysis.run_files.reading import read_pairs, read_text
from base.errors import FileError
from model.block_operations import FLUSH, OP, PREFLUSH, WRITE


@dataclass(frozen=True)
class File:
    """A file of the sequence, with its written pages and its syncs by kind."""

    inode: int
    pages: int
    syncs: dict[str, int]  # fsync, fdatasync, kernel (O_DSYNC)
    name: str

    @property
    def is_directory(self) -> bool:
        return self.name == "."


@dataclass(frozen=True)
class KnownSequence:
    """The writes and syncs of the sequence, the kernel's counts of them, and the probes' records."""

    files: list[File]
    stat: dict[str, int]
    counted: dict[str, int]  # by the filesystem, by type of record
    disk: int  # device number of commands and bios; for a partition its own number
    filesystem: int
    rows: np.ndarray  # RECORD of any device, begun during the sequence
    lost: tuple[int, int]
    cached: bool  # whether the device has a volatile cache, which is flushed
    # of a partition: the flushes that its disk counted, and the least and most that were recorded
    flushes: tuple[int, int, int] | None = None

    def records(self, name: str, device: int | None = None) -> np.ndarray:
        """Return the records of a type, of one device or of all."""
        chosen = self.rows["type"] == TYPES[name]
        if device is not None:
            chosen = chosen & (self.rows["dev"] == device)
        return np.asarray(self.rows[chosen])

    @property
    def counts_empty(self) -> bool | None:
        """Whether the device's counter of writes includes empty flushes, as since Linux 6.1.

        None if the counter agrees with neither.
        """
        commands, bios = self.records("block", self.disk), self.records("bio", self.disk)
        writes = int((operation(commands) == WRITE).sum())
        empty = int(((bios["n"] == 0) & (bios["b"] & PREFLUSH != 0)).sum())
        return {writes + empty: True, writes: False}.get(self.stat["write_ios"])


def read(raw: Path) -> KnownSequence:
    """Read the files that known-sequence.sh wrote to `raw`. Raises FileError."""
    folder = raw / "known"
    devices = folder / "devices"
    disk, filesystem = (device_number(devices, "", line) for line in _lines(devices, 2))
    begin, end = (float(line) * 1e9 for line in _lines(folder / "window", 2))
    files = []
    for line in _lines(folder / "files"):
        inode, pages, fsyncs, fdatasyncs, dsyncs, name = line.split(" ", 5)
        syncs = {"fsync": int(fsyncs), "fdatasync": int(fdatasyncs), "kernel": int(dsyncs)}
        files.append(File(int(inode), int(pages), syncs, name))
    rows = proberecords.read(raw / "probes.bin")
    flushes, device = None, raw / "board/device.txt"
    if device.is_file() and (partition := read_partition(read_pairs(device))):
        disk, rows = partition.dev, partition.assign_own(rows)
        is_flush = (rows["type"] == TYPES["block"]) & (rows["dev"] == disk) & (operation(rows) == FLUSH)
        flushes = flush_bounds(covariates.read(raw), rows["end_ns"][is_flush])
        if flushes is None:
            path = raw / "board/covariates.json"
            raise FileError(path, "", "no flush counter of the disk, or no times", "both")
    last, inside = rows[-1], (rows["begin_ns"] >= begin) & (rows["begin_ns"] < end)
    # a thread's name is recorded once
    inside |= rows["type"] == TYPES["comm"]
    return KnownSequence(
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
    """Return the operation (REQ_OP_*) of each command or bio."""
    return np.asarray(rows["b"] & OP)


def _cached(path: Path) -> bool:
    """Return whether the device has a volatile cache: without one the kernel drops flushes.

    See queue/write_cache in Documentation/ABI. Raises FileError.
    """
    modes, mode = {"write back": True, "write through": False}, read_pairs(path).get("write_cache")
    if mode not in modes:
        raise FileError(path, "write_cache", repr(mode), " or ".join(modes))
    return modes[mode]


def _lines(path: Path, number: int | None = None) -> list[str]:
    lines = read_text(path).splitlines()
    if not lines or number not in (None, len(lines)):
        raise FileError(path, "", f"{len(lines)} lines", f"{number or 'some'}")
    return lines


def _difference(folder: Path, name: str, parse: Callable[[Path], dict[str, int]]) -> dict[str, int]:
    begin, end = (parse(folder / f"{name}.{edge}") for edge in ("begin", "end"))
    return {key: end[key] - begin[key] for key in begin}


def _stat(path: Path) -> dict[str, int]:
    return dict(zip(STAT_FIELDS, map(int, _lines(path, 1)[0].split()), strict=False))


def _counters(path: Path) -> dict[str, int]:
    return {name: int(number) for name, number in (line.split() for line in read_text(path).splitlines())}
