"""What the devices of a run and of its untraced twin were given, and when, by their own logs.

A device's counters have the sum of the times in its log (`device.py`). For twin_times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.adapters import devicelog
from analysis.adapters.driver import Driver
from analysis.checks.phases import instruction_ns
from analysis.ledger.arrays import Intervals, Ints, inside, ints, length_within, union
from analysis.ledger.timeline import edges
from analysis.run import Run


class Reordered(NamedTuple):
    """Two devices that did not get the same commands in the same order.

    busy: ns of each transaction in which the device was at work, of the run and of the twin; elsewhere: how
    many transactions had another number of commands in the twin.
    """

    busy: tuple[Ints, Ints]
    elsewhere: int


def logs(run: Run) -> tuple[tuple[Driver, np.ndarray], ...] | None:
    """Return what the driver said, and what its device logged in its window: of the run, and of its twin."""
    if run.twin is None or run.log is None or run.twin.log is None or instruction_ns(run) is None:
        return None
    both = ((run.driver, run.log), (run.twin.driver, run.twin.log))
    return tuple((ran, log.within(*ran.window)) for ran, log in both)


def in_order(own: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two devices got the same commands in the same order."""
    return devicelog.alike(own, other) == own.size == other.size


def of_one_alone(own: np.ndarray, other: np.ndarray) -> int:
    """Return the ns that two devices were at work for commands that only one of them got."""
    fields = ("operation", "sector", "sectors")
    times = []
    for log in (own, other):
        took: dict[tuple[int, ...], list[int]] = {}
        keys = zip(*(log[name].tolist() for name in fields), strict=True)
        for key, ns in zip(keys, (ints(log["end_ns"]) - ints(log["begin_ns"])).tolist(), strict=True):
            took.setdefault(key, []).append(ns)
        times.append(took)
    alone = 0
    for key in {*times[0], *times[1]}:
        longer, shorter = sorted((took.get(key, []) for took in times), key=len, reverse=True)
        alone += sum(sorted(longer)[len(shorter) :])
    return alone


def reordered(run: Run) -> Reordered | None:
    """Return what the devices did in each transaction; None where their commands came in one order: their
    logs say nothing then that twin_times.device does not."""
    both = logs(run)
    if both is None or in_order(*(log for _, log in both)):
        return None
    busy, numbers = [], []
    for ran, log in both:
        begins, ends = edges(ran.transactions)
        at_work = union([Intervals(ints(log["begin_ns"]), ints(log["end_ns"]))])
        busy.append(length_within(at_work, begins, ends))
        row = inside(ints(log["begin_ns"]), begins, ends)
        numbers.append(np.bincount(row[row >= 0], minlength=begins.size))
    return Reordered((busy[0], busy[1]), int((numbers[0] != numbers[1]).sum()))
