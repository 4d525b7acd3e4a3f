"""What the devices of a run and of its untraced twin were given, and when, by their own logs.

A device's counters have the sum of the times in its log (`device.py`). For twin_times.
"""

from __future__ import annotations

import numpy as np

from analysis.adapters import devicelog
from analysis.adapters.driver import Driver
from analysis.checks.phases import instruction_ns
from analysis.ledger.arrays import Intervals, Ints, ints, length_within, union
from analysis.ledger.timeline import edges
from analysis.run import Run


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


def reordered(run: Run) -> tuple[Ints, Ints] | None:
    """Return how many ns of each transaction the device was at work, of the run and of its baseline run.

    None where both devices got the same commands in the same order: twin_times.device compares those.
    """
    both = logs(run)
    if both is None or in_order(*(log for _, log in both)):
        return None
    own, baseline = (_at_work(ran, log) for ran, log in both)
    return own, baseline


def _at_work(ran: Driver, log: np.ndarray) -> Ints:
    at_work = union([Intervals(ints(log["begin_ns"]), ints(log["end_ns"]))])
    return length_within(at_work, *edges(ran.transactions))
