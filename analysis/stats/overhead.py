"""What watching cost, by a run and its untraced twin.

In virtual time nothing but the watching differs, and the difference is its cost. On a lab board the twin is
another run, at another time: then the difference has an interval.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from analysis.adapters.driver import Driver
from analysis.run import Run
from analysis.stats import report_tables
from analysis.stats.spread import CONFIDENCE
from base.arrays import Ints, ints

# Transactions that follow each other are not independent (a checkpoint, a collection of garbage); the rates
# of parts of a run nearly are.
_PARTS, _LEAST = 10, 3
_EACH = 5  # transactions in a part, at least


def cost(run: Run) -> dict[str, float | None] | None:
    """Return the share of TPS that watching cost, by operation and in all; None without a twin.

    1 - traced TPS / untraced TPS.
    """
    if run.twin is None:
        return None
    traced, untraced = (
        {row["op"]: row["tps"] for row in report_tables.times(ran).iter_rows(named=True)} | {"all": rate(ran)}
        for ran in (run.driver, run.twin.driver)
    )
    return {op: 1 - tps / untraced[op] if tps and untraced.get(op) else None for op, tps in traced.items()}


def interval(run: Run) -> dict[str, tuple[float, float] | None] | None:
    """Return the 95 % interval of `cost`, by operation and in all; None without a twin, and in virtual time.

    Both ran the same transactions, so _PARTS parts of the one, one after the other, are compared with
    those of the other: a jackknife of the ratio of their times. It holds what changes within a run,
    and not what changes from one to the next; that takes repeats. None of an operation with too few
    transactions.
    """
    if run.twin is None or run.board.run.get("clock") == "virtual":
        return None
    own, other = (_parts(ran) for ran in (run.driver, run.twin.driver))
    return {op: _jackknife(times, other.get(op)) for op, times in own.items()}


def rate(ran: Driver) -> float | None:
    """Transactions per second of the timed region."""
    seconds = (ran.timed[1] - ran.timed[0]) / 1e9 if ran.timed else None
    return ran.transactions.height / seconds if seconds else None


def _parts(ran: Driver) -> dict[str, np.ndarray | None]:
    """Return the ns that each part took, of each operation's transactions and of all; None of too few."""
    rows, found = ran.transactions, {}
    for (op,), of_op in rows.group_by("op", maintain_order=True):
        found[str(op)] = _times(ints(of_op["begin_ns"]), ints(of_op["end_ns"]))
    return {**found, "all": _times(ints(rows["begin_ns"]), ints(rows["end_ns"]))}


def _times(begins: Ints, ends: Ints) -> np.ndarray | None:
    number = min(_PARTS, begins.size // _EACH)
    if number < _LEAST:
        return None
    # each from its first transaction's begin to the next part's
    first = np.arange(number) * begins.size // number
    times: np.ndarray = np.diff(np.r_[begins[first], ends[-1]])
    return times


def _jackknife(traced: np.ndarray | None, untraced: np.ndarray | None) -> tuple[float, float] | None:
    if traced is None or untraced is None or traced.size != untraced.size:
        return None
    number, sums = traced.size, (traced.sum(), untraced.sum())
    ratio = np.log(sums[1] / sums[0])
    without = np.log((sums[1] - untraced) / (sums[0] - traced))
    error = np.sqrt((number - 1) / number * ((without - without.mean()) ** 2).sum())
    half = stats.t.ppf((1 + CONFIDENCE) / 2, number - 1) * error
    return 1 - float(np.exp(ratio + half)), 1 - float(np.exp(ratio - half))
