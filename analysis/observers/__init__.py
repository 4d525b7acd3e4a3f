"""What the analysis reads of an observer: one module here for each, found by its name.

A module `<name>.py` has one value OBSERVER of the class Observer. What it does on a board is in
playbooks/observers/<name>.sh, when it watches in experiments/observer/<name>.yml.
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
from base.errors import BadInput

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Given:
    """What an observer's files are read with."""

    raw: Path
    window: tuple[int, int]  # ns
    checkpoint_reasons: tuple[str, ...] = ()  # Filesystem's
    partition: Partition | None = None  # that is under test, beside others on its disk


@dataclass(frozen=True)
class Witness:
    """The block commands that were issued in the window, as one saw them who is neither the probes nor
    the device; counted without keeping any."""

    commands: Mapping[str, int]  # by kind (events.BLOCK_KINDS)
    sectors: Mapping[str, int]  # by kind
    empty_flushes: int  # bios without data that asked for a flush
    unfinished: int
    failed: int
    devices: list[str]  # major:minor, of all that it saw
    # the commands of the whole run, in the order of issue: columns of events.SCHEMA, and `kind`
    read: Callable[[], pl.DataFrame]
    # bios queued in the window that are writes or flushes: pid, sector and bytes of each, by pid, then
    # in the order in which that thread queued them
    queued: Callable[[], np.ndarray]


@dataclass(frozen=True)
class Content:
    """What the device under test was given to write, command by command, as one kept it who is neither
    the probes nor the device.

    A row a command of the whole run that is no read, in the order of issue; one that the driver gave
    back unserved is not among them, only its next issue is.
    """

    time: np.ndarray  # int64, ns of CLOCK_MONOTONIC: of the issue
    sector: np.ndarray  # int64; 0 of a flush
    sectors: np.ndarray  # int64
    flags: np.ndarray  # uint32: REQ_OP_* and REQ_* of linux/blk_types.h
    begin: np.ndarray  # int64: where its data begin in `data`; -1: it has none, or there was no room
    data: np.ndarray  # uint8
    unkept: int  # writes whose data found no room

    def within(self, begin: int, end: int) -> Content:
        """Return the commands that were issued in [begin, end) ns; `data` stays whole."""
        first, behind = np.searchsorted(self.time, [begin, end])
        columns = ("time", "sector", "sectors", "flags", "begin")
        return replace(self, **{name: getattr(self, name)[first:behind] for name in columns})


@dataclass
class Seen:
    """What an observer left of a run."""

    missing: list[str] = field(default_factory=list)  # files that are not there
    events: pl.DataFrame | None = None  # events.SCHEMA
    lost: int = 0  # events
    losses: list[str] = field(default_factory=list)  # what was lost, in words: reasons to reject the run
    notes: list[str] = field(default_factory=list)  # what a reader must know; no reasons to reject the run
    said: Mapping[str, int] = field(default_factory=dict)  # of itself, for the manifest
    witness: Witness | None = None
    content: Content | None = None


@dataclass(frozen=True)
class Observer:
    """How an observer's files are read."""

    # raises BadInput
    read: Callable[[Given], Seen]
    # patterns of its files below raw/
    leaves: tuple[str, ...]
    # raw/ → what it was made to print of moments of the run, by time: begin_ns, text. Raises BadInput
    told: Callable[[Path], pl.DataFrame] | None = None


@functools.cache
def names() -> tuple[str, ...]:
    """Every observer whose files are read."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_")))


def find(name: str) -> Observer:
    """The observer of that name. Raises BadInput if there is none."""
    if name not in names():
        raise BadInput("raw/run.json", "observers", f"no observer {name!r}", ", ".join(names()))
    found: Observer = importlib.import_module(f"{__name__}.{name}").OBSERVER
    return found


def watched(said: object) -> list[str]:
    """Return the observers that run.json names. Raises BadInput."""
    if not isinstance(said, list) or not all(isinstance(name, str) for name in said):
        raise BadInput("raw/run.json", "observers", f"{said}", "a list of names")
    return said


def told(raw: Path) -> pl.DataFrame:
    """What users' scripts printed of moments of a run, by time: begin_ns, text. Raises BadInput."""
    found = [read(raw) for name in names() if (read := find(name).told)]
    nothing = pl.DataFrame(schema={"begin_ns": pl.Int64, "text": pl.String})
    return pl.concat([nothing, *found]).sort("begin_ns", maintain_order=True)


def left(raw: Path) -> list[str]:
    """Names of the files below raw/ that observers left."""
    found = {path.name for name in names() for pattern in find(name).leaves for path in raw.glob(pattern)}
    return sorted(found)
