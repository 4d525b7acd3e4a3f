"""Did the untraced twin go as fast as the watched run, but for the watching?

Nobody watches a twin. But it ran the same statements on the same bytes, so that in virtual time its
times are the run's, less what the probes took, and less or more what goes by the clock.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis import cpu
from analysis.ledger.arrays import Ints, ints
from analysis.run import Run

# Measured on 40 clean pairs: a phase of the twin took 0.964 to 1.003 of the run's, with CPU_NS=2; one
# transaction of each hundred is further than 0.85 to 1.17 from it, as write back and checkpoints move.
_QUICKER, _SLOWER = 0.05, 0.02
# ten commands of 2 ms: what goes by the clock may come in another phase
_SLACK_NS = 20_000_000
_ONE, _OTHERS = 0.25, 0.02


def alike(run: Run) -> list[str]:
    """In virtual time each phase and nearly each transaction of the twin took as long as the run's, to 5 %
    and 25 %; the probes' part is a number of instructions, and so goes by CPU_NS."""
    if run.twin is None or run.board.run.get("clock") != "virtual":
        return []
    slower = (cpu.counted(run.cell, run.driver.config["clock"]) or 2) / 2
    found = []
    names = [*run.driver.workload_phases["phase"]]
    spans = [
        {name: end - begin for name, begin, end in side.phases.select("phase", "begin_ns", "end_ns").rows()}
        for side in (run.driver, run.twin.driver)
    ]
    for name in names:
        own, twins = (span.get(name, 0) for span in spans)
        if not own * (1 - _QUICKER * slower) - _SLACK_NS <= twins <= own * (1 + _SLOWER) + _SLACK_NS:
            found.append(f"the untraced twin's phase {name!r} took {twins} ns, the run's {own}")
    own, twins = (_latencies(side.transactions) for side in (run.driver, run.twin.driver))
    if own.size == twins.size:
        apart = int((np.abs(twins - own) > _ONE * slower * own).sum())
        if apart > 2 + _OTHERS * own.size:
            found.append(f"{apart} transactions of the untraced twin took another time than the run's")
    return found


def _latencies(transactions: pl.DataFrame) -> Ints:
    return ints(transactions["end_ns"] - transactions["begin_ns"])
