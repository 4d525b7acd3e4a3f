"""Compute a run's TPS, the share that observation costs (interval), and with PACE late starts and busy TPS.

In virtual time a run and its unobserved baseline differ only by the observation. On a lab board the baseline
ran at another time, so the cost has an interval.
"""

from typing import Any

import numpy as np
import polars as pl

from analysis.adapters.driver import Driver
from analysis.run import Run
from analysis.stats import report_tables
from analysis.stats.spread import CONFIDENCE
from base.arrays import Ints, ints
from model import pace
from model.cell import Cell

# Successive transactions are not independent (checkpoints, garbage collection); rates of parts nearly are.
_PARTS, _LEAST = 10, 3
_EACH = 5  # minimum of transactions in a part


def cost(run: Run) -> dict[str, float | None] | None:
    """Return the share of TPS lost to observation, by operation and over all; None without a baseline.

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
    """Return the 95 % interval of `cost`; None without a baseline, and in virtual time.

    Both runs executed the same transactions. Each is split into _PARTS successive parts, and the interval is
    a jackknife of the ratio of their times. It covers variation within a run; variation between runs requires
    repeats. An operation with too few transactions has None.
    """
    if run.twin is None or run.board.run.get("clock") == "virtual":
        return None
    traced, untraced = (_parts(ran) for ran in (run.driver, run.twin.driver))
    return {op: _jackknife(times, untraced.get(op)) for op, times in traced.items()}


def rate(ran: Driver) -> float | None:
    """Return the transactions per second of the timed region."""
    return ran.transactions.height / ran.timed_seconds if ran.timed_seconds else None


def _parts(ran: Driver) -> dict[str, np.ndarray | None]:
    """Return the ns of each part, by operation and over all; None with too few transactions."""
    rows, parts = ran.transactions, {}
    for (op,), of_op in rows.group_by("op", maintain_order=True):
        parts[str(op)] = _times(ints(of_op["begin_ns"]), ints(of_op["end_ns"]))
    return {**parts, "all": _times(ints(rows["begin_ns"]), ints(rows["end_ns"]))}


def _times(begins: Ints, ends: Ints) -> np.ndarray | None:
    number = min(_PARTS, begins.size // _EACH)
    if number < _LEAST:
        return None
    # from the begin of a part's first transaction to the begin of the next part
    first = np.arange(number) * begins.size // number
    return np.asarray(np.diff(np.r_[begins[first], ends[-1]]))


def _jackknife(traced: np.ndarray | None, untraced: np.ndarray | None) -> tuple[float, float] | None:
    if traced is None or untraced is None or traced.size != untraced.size:
        return None
    # imported here: it takes a sixth of an analysis's imports, and in virtual time nothing needs it
    from scipy import special

    number, sums = traced.size, (traced.sum(), untraced.sum())
    ratio = np.log(sums[1] / sums[0])
    without = np.log((sums[1] - untraced) / (sums[0] - traced))
    error = np.sqrt((number - 1) / number * ((without - without.mean()) ** 2).sum())
    half = special.stdtrit(number - 1, (1 + CONFIDENCE) / 2) * error
    return 1 - float(np.exp(ratio + half)), 1 - float(np.exp(ratio - half))


def pacing(cell: Cell, ran: Driver) -> dict[str, Any] | None:
    """Return the entry `pace` of summary.json; None without PACE.

    busy_tps: transactions per second of time spent in transactions. late: number of transactions due
    before the previous one ended.
    """
    rows = ran.transactions
    begins, ends = ints(rows["begin_ns"]), ints(rows["end_ns"])
    due = pace.due_ns(cell, begins)
    if due is None:
        return None
    spent = rows.group_by("op", maintain_order=True).agg(
        pl.len().alias("number"), (pl.col("end_ns") - pl.col("begin_ns")).sum().alias("ns")
    )
    each = {op: number * 1e9 / ns for op, number, ns in spent.iter_rows() if ns}
    total = int((ends - begins).sum())
    return {
        "asked": cell.pace,
        "late": int((due[1:] < ends[:-1]).sum()),
        "busy_tps": {**each, "all": rows.height * 1e9 / total if total else None},
    }
