"""Check phase and transaction times against PACE, the times of counter readings, and scheduler CPU times.

All times are CLOCK_MONOTONIC in ns. In virtual time each instruction takes CPU_NS.
"""

import numpy as np
import polars as pl

from analysis.run import Run
from base.arrays import Intervals, Ints, inside, ints, length_within, union
from model import pace


def instruction_ns(run: Run) -> int | None:
    """Return the cell's virtual ns per instruction; None where times do not count instructions."""
    return int(run.cell.cpu_ns) if run.counted else None


def due(run: Run) -> list[str]:
    """Check that no transaction began before it was due (PACE)."""
    begins = ints(run.driver.transactions["begin_ns"])
    times = pace.recorded_ns(run.cell)
    if times is not None and times.size != begins.size:
        return [f"{begins.size} transactions, but the trace has {times.size} (PACE={run.cell.pace})"]
    wanted = pace.due_ns(run.cell, begins)
    if wanted is None or not (early := np.flatnonzero(begins < wanted)).size:
        return []
    at = int(early[0])
    early_ns = wanted[at] - begins[at]
    return [f"transaction {at} began {early_ns} ns before it was due (PACE={run.cell.pace})"]


def counters_at_edges(run: Run) -> list[str]:
    """Check that the device's counters were read before and after all phases, and after each phase."""
    ran = run.driver
    read = dict(ran.device_stat.select("label", "time_ns").iter_rows())
    reasons = [
        f"device_stat.csv: 'end-{phase}' was read {end - read[f'end-{phase}']} ns before the phase's end"
        for phase, _, end, *_ in ran.phases.iter_rows()
        if read.get(f"end-{phase}", end) < end  # warm and drain have no such reading
    ]
    edges = ran.phases.filter(pl.col("phase") != "warm")
    if edges.height and not read["begin"] <= edges["begin_ns"][0] <= edges["end_ns"][-1] <= read["end"]:
        reasons.append("device_stat.csv: a phase is not within 'begin' and 'end'")
    return reasons


# Instructions between the readings of the two clocks at a phase's edges.
_READING_INSTRUCTIONS = 50_000


def on_the_cpu(run: Run) -> list[str]:
    """Check that in virtual time no phase is shorter than the driver's CPU time in it."""
    each = instruction_ns(run)
    if each is None:
        return []
    most = pl.col("end_ns") - pl.col("begin_ns") + each * _READING_INSTRUCTIONS
    return [
        f"phase {row['phase']!r} took {row['end_ns'] - row['begin_ns']} ns, but the driver was on the CPU "
        f"for {row['cpu_ns']} ns"
        for row in run.driver.phases.filter(pl.col("cpu_ns") > most).iter_rows(named=True)
    ]


# The scheduler's clock and the probe's differ by some instructions: up to 2800 for each switch, and 1900 in a
# phase without any. The scheduler charges interrupts to no thread: 200 000 instructions in one close in the
# 24 cells of docs/measurements/ledger.md.
_SWITCH_INSTRUCTIONS, _EDGE_INSTRUCTIONS = 5000, 500_000
# A thread may also lose the CPU between the reading of the scheduler's counts and a phase's edge. Linux 7.3
# does so at the return of a system call, 740 instructions before a drain. Such a switch may count either way.
_SEEN_INSTRUCTIONS = 5000
# Instructions to copy the content of a block of 4096 bytes for an observer: 850 in a transaction that wrote
# 1271 on nvme-consumer. The copy is made when some thread leaves the CPU, and the scheduler charges that one.
BLOCK, BLOCK_INSTRUCTIONS = 4096, 2000


def copied(run: Run, begins: Ints, ends: Ints) -> Ints:
    """Return the instructions that copying the content written in each interval may take; 0 if not kept.

    Intervals must not overlap.
    """
    if run.ledger is None or not run.contents:
        return np.zeros(begins.size, np.int64)
    made = run.ledger.ledger
    row = inside(ints(made["issue_ns"]), begins, ends)
    blocks = np.bincount(row[row >= 0], ints(made["bytes"])[row >= 0] // BLOCK, minlength=begins.size)
    return ints(blocks.astype(np.int64) * BLOCK_INSTRUCTIONS)


def cpu_time(run: Run) -> list[str]:
    """Check that the driver's thread was off the CPU as often and as long as the scheduler counted."""
    phases = run.driver.phases
    each = instruction_ns(run)
    if run.ledger is None or each is None:
        return []
    away = run.ledger.few["off_cpu"]
    away = away[away["tid"] == away["tid"].min(initial=2**32 - 1)]  # the first thread ran the phases
    begins, ends = ints(away["begin_ns"]), ints(away["end_ns"])
    reasons = []
    # the probes are attached only from before the window
    for row in phases.filter(pl.col("begin_ns") >= run.driver.window[0]).iter_rows(named=True):
        edge = Intervals(ints([row["begin_ns"]]), ints([row["end_ns"]]))
        number = int(((begins >= row["begin_ns"]) & (begins < row["end_ns"])).sum())
        reading = each * _SEEN_INSTRUCTIONS
        either = (ends >= row["begin_ns"] - reading) & (ends < row["begin_ns"])
        either |= (begins >= row["end_ns"]) & (begins <= row["end_ns"] + reading)
        left = int(length_within(union([Intervals(begins, ends)]), *edge)[0])
        counted, off = (
            row["waited"] + row["preempted"],
            row["end_ns"] - row["begin_ns"] - left - row["cpu_ns"],
        )
        most = _SWITCH_INSTRUCTIONS * counted + _EDGE_INSTRUCTIONS + int(copied(run, *edge)[0])
        if not number <= counted <= number + int(either.sum()) or abs(off) > each * most:
            took = row["end_ns"] - row["begin_ns"]
            reasons.append(
                f"phase {row['phase']!r}: the probes saw the driver leave the CPU {number} times, for {left} "
                f"ns; the scheduler counted {counted} times, {took - row['cpu_ns']} ns"
            )
    return reasons
