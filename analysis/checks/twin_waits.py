"""Did the untraced twin spend as long between its transactions, and off the CPU, as the run?

Parts of twin_times.plausible.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.checks import phases
from analysis.ledger.arrays import ints
from analysis.run import Run

# Of a time that is compared; what comes by the clock comes elsewhere in the twin.
SLACK = 0.01
# of a transaction in a phase of many, for what its clock's step and a tick of the kernel add
FEW_INSTRUCTIONS = 5000
# Each gap between two transactions is the same instructions in both, and the clock's step is 16 ns; a tick
# with what it wakes, up to 13 000 instructions, may come in a gap of one of them.
_GAP_NS, TICK_INSTRUCTIONS = 64, 25000


def gaps(run: Run, each: int) -> list[str]:
    """What lies between the transactions is the same in both: nothing of it is watched. But for a tick."""
    if run.twin is None:
        return []
    own, other = (phases.gaps(ran, run.cell) for ran in (run.driver, run.twin.driver))
    both = own.join(other, on=["phase", "gaps"], suffix="_twin")
    allowed = _GAP_NS * pl.col("gaps") + SLACK * pl.col("ns") + each * TICK_INSTRUCTIONS
    allowed += phases.WAKE_NS * pl.max_horizontal("sleeps", "sleeps_twin")
    wrong = both.filter((pl.col("ns") - pl.col("ns_twin")).abs() > allowed)
    return [
        f"phase {row['phase']!r}: {row['ns']} ns in no transaction, in the untraced twin {row['ns_twin']} ns"
        for row in wrong.iter_rows(named=True)
    ]


def off_cpu(run: Run, each: int, costs: dict[str, int]) -> list[str]:
    """By the scheduler's clock, too, the twin waited as long as the run, in the workload's phases: but for
    what watching costs, the other threads as well."""
    if run.twin is None:
        return []
    both = (run.driver, run.twin.driver)
    tables = [ran.workload_phases for ran in both]
    if not all(phases.recorded(ran) for ran in both):
        return []  # phases.cpu_time says so
    waited = [ints(table["end_ns"] - table["begin_ns"] - table["cpu_ns"]) for table in tables]
    took = ints(tables[0]["end_ns"] - tables[0]["begin_ns"])
    if waited[0].size != waited[1].size:
        return []
    cost = ints([costs.get(name, 0) for name in tables[0]["phase"]])
    apart = np.abs(waited[0] - waited[1]) > SLACK * took + each * FEW_INSTRUCTIONS + cost
    return [
        f"phase {tables[0]['phase'][at]!r}: the driver was {waited[0][at]} ns off the CPU by the scheduler's "
        f"clock, in the untraced twin {waited[1][at]} ns"
        for at in np.flatnonzero(apart).tolist()
    ]
