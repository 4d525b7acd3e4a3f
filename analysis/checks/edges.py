"""Do the driver's own times fit together: readings, phases, transactions?"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.ledger.arrays import ints
from analysis.run import Run

# In virtual time, an interrupt's, which may come anywhere; what the driver does between its own readings of
# the clock takes 0.2 µs.
_INTERRUPT_NS = 100_000


def readings(run: Run) -> list[str]:
    """The device's counters were read after each phase and before the next; at the begin before the first
    phase of the workload, at the end after the last phase."""
    driver = run.driver
    phases = driver.phases.select("phase", "begin_ns", "end_ns").rows()
    times = dict(driver.device_stat.select("label", "time_ns").iter_rows())
    named = {*driver.workload_phases["phase"], "close"}
    begins = [*(begin for _, begin, _ in phases), 2**63][1:] if phases else []
    wrong = [
        f"end-{name}"
        for (name, _, end), following in zip(phases, begins, strict=True)
        if name in named and not end <= times.get(f"end-{name}", -1) <= following
    ]
    if times["begin"] > min((begin for name, begin, _ in phases if name in named), default=2**63):
        wrong.append("begin")
    if times["end"] < max((end for _, _, end in phases), default=0):
        wrong.append("end")
    unknown = times.keys() - {"begin", "end", *(f"end-{name}" for name in named)}
    return [f"device_stat.csv: {label!r} was not read at its place between the phases" for label in wrong] + [
        f"device_stat.csv: {label!r} is of no phase" for label in sorted(unknown)
    ]


def filled(run: Run) -> list[str]:
    """In virtual time a phase is its transactions, but for what the driver does between two: that
    takes as long each time, but for an interrupt; and the counters are read at once behind it."""
    if run.board.run.get("clock") != "virtual":
        return []
    found = []
    times = dict(run.driver.device_stat.select("label", "time_ns").iter_rows())
    for phase, end in run.driver.phases.select("phase", "end_ns").rows():
        if times.get(f"end-{phase}", end) - end > _INTERRUPT_NS:
            found.append(f"phase {phase!r} ended before the device's counters were read behind it")
    for phase, begin, end in run.driver.phases.select("phase", "begin_ns", "end_ns").rows():
        of_phase = run.driver.transactions.filter(pl.col("phase") == phase)
        if of_phase.is_empty():
            continue
        begins, ends = ints(of_phase["begin_ns"]), ints(of_phase["end_ns"])
        gaps = begins - np.r_[begin, ends[:-1]]
        limit = 2 * np.median(gaps) + _INTERRUPT_NS
        if end - ends[-1] > _INTERRUPT_NS:
            found.append(f"phase {phase!r} goes on after its last transaction")
        if gaps.size > 2 and gaps.max() > limit:
            number = of_phase["transaction"][int(gaps.argmax())]
            found.append(f"nothing is told of the time before transaction {number} of phase {phase!r}")
    return found
