"""PACE: when each transaction of a run is due, and how the run kept to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters import sqlfile, userfile
from analysis.adapters.driver import Driver
from analysis.ledger.arrays import Ints, ints

NONE, RECORDED = "none", "trace"
# --pace-ns of each (workloads/pace.h).
_WORDS = {NONE: 0, RECORDED: -1}
_UNIT_NS = {"s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}


def interval_ns(pace: str) -> int:
    """Return --pace-ns of a PACE: ns between two starts, or what stands for a word."""
    if pace in _WORDS:
        return _WORDS[pace]
    found = re.fullmatch(r"([0-9]+)/(\w+)", pace)
    if found is None:
        raise ValueError(f"{pace!r} is no PACE")
    return _UNIT_NS[found[2]] // int(found[1])


def due_ns(cell: Mapping[str, Any], begins: Ints) -> Ints | None:
    """Return when each transaction was due, given when each began; None without a PACE."""
    pace = cell.get("pace", NONE)
    if pace == NONE or begins.size == 0:
        return None
    if pace == RECORDED:
        due = ints(sqlfile.due_ns(userfile.parts(cell["profiles"]["file"]).transactions))
        if due.size != begins.size:
            raise ValueError(f"{begins.size} transactions, and the trace has {due.size}")
        return ints(begins[0] + due)
    return ints(begins[0] + np.arange(begins.size) * interval_ns(pace))


def summary(cell: Mapping[str, Any], ran: Driver) -> dict[str, Any] | None:
    """Return what summary.json says of a PACE; None without one.

    busy_tps: transactions per second of the time in transactions alone. late: transactions that were due
    before the one before them had ended.
    """
    rows = ran.transactions
    begins, ends = ints(rows["begin_ns"]), ints(rows["end_ns"])
    due = due_ns(cell, begins)
    if due is None:
        return None
    spent = rows.group_by("op", maintain_order=True).agg(
        pl.len().alias("number"), (pl.col("end_ns") - pl.col("begin_ns")).sum().alias("ns")
    )
    each = {op: number * 1e9 / ns for op, number, ns in spent.iter_rows() if ns}
    total = int((ends - begins).sum())
    return {
        "asked": cell["pace"],
        "late": int((due[1:] < ends[:-1]).sum()),
        "busy_tps": {**each, "all": rows.height * 1e9 / total if total else None},
    }
