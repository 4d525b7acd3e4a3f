"""Define what a run's observers (recorders of events) recorded; load each one's reader, a module here.

Module `<name>.py` defines OBSERVER, an instance of Observer. playbooks/observers/<name>.sh runs the observer
on a board; experiments/observer/<name>.yml defines when it watches.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from analysis.adapters.partition import Partition
from base.errors import FileError

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Given:
    """The input of an observer's reader."""

    raw: Path
    window: tuple[int, int]  # ns
    checkpoint_reasons: tuple[str, ...] = ()  # Filesystem's
    partition: Partition | None = None  # under test; None: a whole device


@dataclass(frozen=True)
class Witness:
    """Counts of the block commands issued in the window, independent of the probes and the device."""

    commands: Mapping[str, int]  # by kind (events.BLOCK_KINDS)
    sectors: Mapping[str, int]  # by kind
    empty_flushes: int  # bios without data that requested a flush
    unfinished: int
    failed: int
    devices: list[str]  # major:minor of all records
    # the commands of the whole run, in the order of issue: columns of events.SCHEMA, and `kind`
    read: Callable[[], pl.DataFrame]
    # bios queued in the window that are writes or flushes: pid, sector and bytes of each, by pid, then
    # in the order in which that thread queued them
    queued: Callable[[], np.ndarray]


@dataclass(frozen=True)
class Content:
    """The data written to the device under test, recorded independently of the probes and the device.

    There is one row for each command of the run except reads, in the order of issue. If a driver requeues
    a command unserved, only its next issue is included.
    """

    time: np.ndarray  # int64, ns of CLOCK_MONOTONIC: of the issue
    sector: np.ndarray  # int64; 0 of a flush
    sectors: np.ndarray  # int64
    flags: np.ndarray  # uint32: REQ_OP_* and REQ_* of linux/blk_types.h
    begin: np.ndarray  # int64: offset in `data`; -1: the command has no data, or they were not kept
    data: np.ndarray  # uint8
    unkept: int  # writes with data that were not kept

    def within(self, begin: int, end: int) -> Content:
        """Return the commands that were issued in [begin, end) ns; `data` stays whole."""
        first, behind = np.searchsorted(self.time, [begin, end])
        columns = ("time", "sector", "sectors", "flags", "begin")
        return replace(self, **{name: getattr(self, name)[first:behind] for name in columns})


@dataclass
class Seen:
    """An observer's record of a run."""

    missing: list[str] = field(default_factory=list)  # missing files
    events: pl.DataFrame | None = None  # events.SCHEMA
    lost: int = 0  # events
    losses: list[str] = field(default_factory=list)  # messages that reject the run
    notes: list[str] = field(default_factory=list)  # messages for the reader that do not reject the run
    numbers: Mapping[str, int] = field(default_factory=dict)  # numbers for the manifest
    witness: Witness | None = None
    content: Content | None = None


@dataclass(frozen=True)
class Observer:
    """How an observer's files are read."""

    # raises FileError
    read: Callable[[Given], Seen]
    # patterns of its files below raw/
    leaves: tuple[str, ...]
    # raw/ → lines with a time that a user's script printed: begin_ns, text. Raises FileError
    script_lines: Callable[[Path], pl.DataFrame] | None = None


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all observers that have a reader."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_")))


def load(name: str) -> Observer:
    """Return the observer of that name. Raises FileError if there is none."""
    if name not in names():
        raise FileError("raw/run.json", "observers", f"no observer {name!r}", ", ".join(names()))
    observer: Observer = importlib.import_module(f"{__name__}.{name}").OBSERVER
    return observer


def check_names(value: object) -> list[str]:
    """Return the observers that run.json names. Raises FileError."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise FileError("raw/run.json", "observers", f"{value}", "a list of names")
    return value


def script_lines(raw: Path) -> pl.DataFrame:
    """Return the lines with a time that users' scripts printed, by time: begin_ns, text. Raises FileError."""
    tables = [read(raw) for name in names() if (read := load(name).script_lines)]
    nothing = pl.DataFrame(schema={"begin_ns": pl.Int64, "text": pl.String})
    return pl.concat([nothing, *tables]).sort("begin_ns", maintain_order=True)


def find_files(raw: Path) -> list[str]:
    """Return the names of the observers' files below raw/."""
    paths = (path for name in names() for pattern in load(name).leaves for path in raw.glob(pattern))
    return sorted({path.name for path in paths})
