"""Was the device at work for as long as its commands take, and for no longer than it lasted?

By /sys/block/<dev>/stat, which the driver reads at each phase's end, watched or not: of reads, writes,
discards and flushes how many there were, and the ms that they took together, each from when its request was
made to its end. An empty flush request is one of the writes (counts.py): it takes as long as its flush, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analysis import devices
from analysis.ledger.arrays import ints
from analysis.ledger.match import FLUSH
from analysis.run import Run

_KINDS = ("read", "write", "discard", "flush")
# What waits for no other request: a flush is part of one.
_REQUESTS = ("read", "write", "discard")
_MS = 1_000_000
# ms: each reading is rounded down; io_ticks goes by the kernel's tick, 10 ms at most, one at either edge
_ROUNDED, _TICKS = 1, 20
# Of a device that works at one request at a time, in commands: what of a request may be before the first of
# two readings, a flush, data and a flush; and what comes between the first reading and the first phase, when
# on clean runs nothing is written.
_BEGUN, _BEFORE = 3, 25
# of a phase: by how much a request may seem to begin before its place is free, while others are plugged
_SLACK = 0.01


class Between(NamedTuple):
    """What the counters grew by between two readings."""

    label: str  # of the later one
    begin_ns: int
    end_ns: int
    elapsed: float  # ms
    waited: float  # ms of it before the first phase began
    grew: dict[str, int]


def long_enough(run: Run) -> list[str]:
    """Each command took what the device takes for any, and all of them no longer than it lasted."""
    device = devices.of(run.cell)
    least = device.takes(run.board.device) if device else 0
    alone = least > 0 and device is not None and device.one_at_a_time(run.board.device, run.board.queue)
    return [
        f"device_stat.csv, {between.label!r}: {wrong}"
        for between in _readings(run)
        for wrong in _wrong(between, least, alone)
    ]


def in_the_log(run: Run) -> list[str]:
    """Between two readings the device's log has as many flushes as the kernel counted, of which one is under
    way at a time."""
    log = run.log
    if log is None or log.lost:
        return []
    ended = np.sort(ints(log.entries["end_ns"])[log.entries["operation"] == FLUSH])
    found = []
    for between in _readings(run):
        had = int(np.diff(np.searchsorted(ended, [between.begin_ns, between.end_ns]))[0])
        counted = between.grew.get("flush_ios", had)
        if abs(counted - had) > 1:
            found.append(
                f"device_stat.csv, {between.label!r}: {counted} flushes, in the device's log {had} then"
            )
    return found


def as_modelled(run: Run) -> list[str]:
    """A device that counts its time has the parts of it that follow from what it did."""
    device = devices.of(run.cell)
    if device is None or not run.board.device_time:
        return []  # device_lost_nothing says if they are missing
    return device.untimely(run.board.device, run.board.device_time, run.log)


def _readings(run: Run) -> Iterator[Between]:
    """Yield what lies between the readings, which are in order. Without counters there is nothing."""
    ran = run.driver
    rows = [row for row in ran.device_stat.iter_rows(named=True) if row["io_ticks"] is not None]
    timed = ran.timed
    for row, later in itertools.pairwise(rows):
        elapsed = (later["time_ns"] - row["time_ns"]) / _MS
        is_first = timed is not None and row["time_ns"] <= timed[0] < later["time_ns"]
        waited = (timed[0] - row["time_ns"]) / _MS if timed is not None and is_first else 0.0
        names = [*(f"{kind}_{what}" for kind in _KINDS for what in ("ios", "ticks")), "io_ticks"]
        grew = {
            name: later[name] - row[name]
            for name in names
            if row[name] is not None and later[name] is not None
        }
        yield Between(later["label"], row["time_ns"], later["time_ns"], elapsed, waited, grew)


def _wrong(between: Between, least: int, alone: bool) -> Iterator[str]:
    """Say what cannot be. least: ns of each command; alone: whether the device works at one at a time."""
    grew, least_ms = between.grew, least / _MS
    for kind in _KINDS:
        number, took = grew.get(f"{kind}_ios"), grew.get(f"{kind}_ticks")
        if number is not None and took is not None and (took + _ROUNDED) * _MS < number * least:
            yield f"{number} {kind} requests took {took} ms, each takes {least_ms} ms at least"
    if grew["io_ticks"] > between.elapsed + _TICKS:
        yield f"the device was at work for {grew['io_ticks']} ms of {between.elapsed:.1f} ms"
    took = sum(grew.get(f"{kind}_ticks", 0) for kind in _REQUESTS)
    lasted = between.elapsed - max(between.waited - _BEFORE * least_ms, 0)
    slack = _BEGUN * least_ms + _ROUNDED * len(_REQUESTS) + _SLACK * lasted
    if alone and took > lasted + slack:
        yield f"requests took {took} ms one after the other, and it lasted {lasted:.1f} ms"
