"""Compare when a run's transactions began with when they were due (PACE): number late, rate while busy."""

from typing import Any

import polars as pl

from analysis.adapters.driver import Driver
from base.arrays import ints
from model import pace
from model.cell import Cell


def summary(cell: Cell, ran: Driver) -> dict[str, Any] | None:
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
