"""Do the driver's transactions, phases, counters and CPU time fit together?

All times are CLOCK_MONOTONIC in ns. In virtual time each instruction takes CPU_NS, so what lies between
two transactions is a number of instructions; in real time it can be anything, as others may run then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from analysis import pace
from analysis.adapters.driver import Driver
from analysis.checks import maintained
from analysis.ledger.arrays import Intervals, Ints, inside, ints, length_within, union
from analysis.run import Run


def instruction_ns(run: Run) -> int | None:
    """Return the virtual ns of an instruction that the cell asks for; None where times do not count them."""
    return int(run.cell["cpu_ns"]) if run.counted else None


def gaps(ran: Driver, cell: Mapping[str, Any]) -> pl.DataFrame:
    """Return what of each workload phase is in none of its transactions: phase, gaps, ns, sleeps.

    Without the gaps in which the driver called for a checkpoint (checkpoint_every), and without the time in
    which a transaction was not due (PACE), of which sleeps is the number.
    """
    every = maintained.every(ran)
    slept = pace.slept_ns(cell, ints(ran.transactions["begin_ns"]), ints(ran.transactions["end_ns"]))
    rows = []
    for phase in ran.workload_phases.iter_rows(named=True):
        of_phase = ran.transactions.filter(pl.col("phase") == phase["phase"])
        begins = np.r_[ints(of_phase["begin_ns"]), phase["end_ns"]]
        ends = np.r_[phase["begin_ns"], ints(of_phase["end_ns"])]
        number = np.r_[0, ints(of_phase["transaction"]) + 1]
        quiet = (number % every > 0) | (np.arange(number.size) == 0) if every > 0 else number >= 0
        waited = np.r_[slept[number[1:] - 1], 0]  # before each transaction, none before the phase's end
        free = (begins - ends - waited)[quiet]
        rows.append((phase["phase"], int(quiet.sum()), int(free.sum()), int((waited[quiet] > 0).sum())))
    schema = {"phase": pl.String, "gaps": pl.Int64, "ns": pl.Int64, "sleeps": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


# What it takes to make a transaction's text, in instructions. Measured: 150 to 1000 between two transactions
# of a value of 3 KiB, and 1600 before a phase's first; 8900 for ten of them in a batch, of which the values
# are copied; 35 to 62 for each byte of numbers in words and of random columns.
_GAP_INSTRUCTIONS, _VALUE_BYTE_INSTRUCTIONS, _TEXT_BYTE_INSTRUCTIONS = 3000, 1, 80
# A thread that is woken while another one runs has the CPU at the next tick of the scheduler, 250 a second.
WAKE_NS = 4_000_000
# To call for a checkpoint that does nothing, as no WAL is there: 6.5 µs natively, of a driver with ASan.
_IDLE_CHECKPOINT_INSTRUCTIONS = 50_000


def filled(run: Run) -> list[str]:
    """In virtual time there is nothing between two transactions but the making of a text, and a sleep until
    the next one is due (PACE), which none precedes."""
    begins = ints(run.driver.transactions["begin_ns"])
    due = pace.due_ns(run.cell, begins)
    if due is not None and (early := np.flatnonzero(begins < due)).size:
        at = int(early[0])
        return [
            f"transaction {at} began {due[at] - begins[at]} ns before it was due (PACE={run.cell['pace']})"
        ]
    each = instruction_ns(run)
    if each is None:
        return []
    between = gaps(run.driver, run.cell)
    number, spent = int(between["gaps"].sum()), int(between["ns"].sum())
    values, text = (int(run.driver.config[name]) for name in ("sql_bytes", "rendered_bytes"))
    making = _VALUE_BYTE_INSTRUCTIONS * values + _TEXT_BYTE_INSTRUCTIONS * (text - values)
    making += _IDLE_CHECKPOINT_INSTRUCTIONS * maintained.idle(run.driver)
    limit = each * (_GAP_INSTRUCTIONS * number + making) + WAKE_NS * int(between["sleeps"].sum())
    if spent <= limit:
        return []
    return [f"{spent} ns of the phases are in no transaction; to make their texts takes at most {limit} ns"]


# The counters are read after the phase's end and the reading of its CPU time: 2000 instructions later; 5032
# behind the close of an engine with a thread of its own, which ends then. An interrupt may come between.
_COUNTERS_INSTRUCTIONS = 50_000


def counters_at_edges(run: Run) -> list[str]:
    """The device's counters were read when each phase had ended, and before and after all of them."""
    ran, each = run.driver, instruction_ns(run)
    read = dict(ran.device_stat.select("label", "time_ns").iter_rows())
    found = []
    for phase, _, end, *_ in ran.phases.iter_rows():
        time = read.get(f"end-{phase}")
        if time is None:
            continue  # warm and drain have no such reading
        late = each is not None and time > end + each * _COUNTERS_INSTRUCTIONS
        if time < end or late:
            found.append(f"device_stat.csv: 'end-{phase}' was read {time - end} ns after the phase's end")
    edges = ran.phases.filter(pl.col("phase") != "warm")
    if edges.height and not read["begin"] <= edges["begin_ns"][0] <= edges["end_ns"][-1] <= read["end"]:
        found.append("device_stat.csv: a phase is not within 'begin' and 'end'")
    return found


def on_the_cpu(run: Run) -> list[str]:
    """In virtual time no phase is shorter than the driver's thread was on the CPU in it."""
    each = instruction_ns(run)
    if each is None:
        return []
    most = pl.col("end_ns") - pl.col("begin_ns") + each * _COUNTERS_INSTRUCTIONS
    return [
        f"phase {row['phase']!r} took {row['end_ns'] - row['begin_ns']} ns, and the driver was on the CPU "
        f"for {row['cpu_ns']} ns"
        for row in run.driver.phases.filter(pl.col("cpu_ns") > most).iter_rows(named=True)
    ]


# Of each switch the scheduler's clock and the probe's are some instructions apart: over a phase up to 2800
# of each switch, and 1900 of a phase without any. The scheduler gives interrupts' time to no thread: 200 000
# of one close in the 24 cells of docs/ledger.md.
_SWITCH_INSTRUCTIONS, _EDGE_INSTRUCTIONS = 5000, 500_000
# Between the reading of the scheduler's counts and a phase's begin, and between its end and that reading. A
# thread may be put off the CPU there, too (Linux 7.3 does it where a system call returns, 740 instructions
# before a drain): is it of the phase or not?
_READING_INSTRUCTIONS = 5000
# What the content of a block of 4096 bytes costs who keeps it, in instructions: 850 in a transaction that
# wrote 1271 on nvme-consumer. It is copied when somebody lets go of the CPU, by whose time the scheduler
# counts it.
BLOCK, BLOCK_INSTRUCTIONS = 4096, 2000


def copied(run: Run, begins: Ints, ends: Ints) -> Ints:
    """Return the instructions that it may take to keep what was written within each interval, none where it
    is not kept. Intervals do not overlap."""
    if run.ledger is None or not run.contents:
        return np.zeros(begins.size, np.int64)
    made = run.ledger.ledger
    row = inside(ints(made["issue_ns"]), begins, ends)
    blocks = np.bincount(row[row >= 0], ints(made["bytes"])[row >= 0] // BLOCK, minlength=begins.size)
    return ints(blocks.astype(np.int64) * BLOCK_INSTRUCTIONS)


def cpu_time(run: Run) -> list[str]:
    """The driver's thread was off the CPU as often, and as long, as the scheduler counted."""
    phases = run.driver.phases
    each = instruction_ns(run)
    if run.ledger is None or each is None:
        return []
    away = run.ledger.few["off_cpu"]
    away = away[away["tid"] == away["tid"].min(initial=2**32 - 1)]  # the first is the one that ran the phases
    begins, ends = ints(away["begin_ns"]), ints(away["end_ns"])
    found = []
    # the probes are attached from before the window
    for row in phases.filter(pl.col("begin_ns") >= run.driver.window[0]).iter_rows(named=True):
        edge = Intervals(ints([row["begin_ns"]]), ints([row["end_ns"]]))
        number = int(((begins >= row["begin_ns"]) & (begins < row["end_ns"])).sum())
        reading = each * _READING_INSTRUCTIONS
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
            found.append(
                f"phase {row['phase']!r}: the probes saw the driver leave the CPU {number} times, for {left} "
                f"ns; by the scheduler it was {counted} times, for {took - row['cpu_ns']} ns"
            )
    return found
