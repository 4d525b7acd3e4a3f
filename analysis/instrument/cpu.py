"""Read back the ns of an instruction, describe virtual time, compute the CPU's share of transaction time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from model.cell import Cell

if TYPE_CHECKING:
    from analysis.ledger.build import Ledger

# Relative tolerance of a timed loop. Reading the clock takes 60 instructions of its 100 000
# (workloads/instruction.c); the clock's step is 16 ns.
TOLERANCE = 0.01
Document = Mapping[str, Any]


def measured(clock: Document) -> float | None:
    """Return the ns of an instruction as timed by the driver; None if not timed.

    clock: of driver/config.json, or of a manifest.
    """
    ps = clock.get("instruction_ps")
    return ps / 1000 if isinstance(ps, int) and not isinstance(ps, bool) and ps >= 0 else None


def effective(clock: Document) -> str | None:
    """Return the time of an instruction in the form of CPU_NS: whole ns, else with three decimals."""
    ns = measured(clock)
    if ns is None:
        return None
    whole = round(ns)
    return str(whole) if whole and abs(ns - whole) <= TOLERANCE * whole else f"{ns:.3f}"


def counted(cell: Cell, clock: Document) -> int | None:
    """Return the virtual ns of an instruction as read back; None in real time or if not read."""
    ns = effective(clock) if cell.clock == "virtual" else None
    return int(ns) if ns is not None and ns.isdigit() else None


def sentence(summary: Document) -> str | None:
    """Return a description of virtual time and its limits; None for another clock."""
    if summary["clock"] != "virtual":
        return None
    ns = summary.get("cpu_ns")
    each = "the same time" if ns is None else f"{ns} ns"
    unread = " (how long was not read back)" if ns is None else ""
    return (
        f"time is virtual: {each} for each instruction{unread}, whatever it does, on one emulated core; "
        "no caches, no branch prediction, no DVFS"
    )


def share(made: Ledger | None) -> dict[str, float | None] | None:
    """Return the share of latency in which the transaction's thread ran, by operation and over all.

    It is measured in the observed run; the time of other threads counts as waiting. None without a ledger.
    """
    if made is None:
        return None
    sums = [pl.col("cpu_ns").sum(), pl.col("latency_ns").sum()]
    by_op = made.costs.group_by("op", maintain_order=True).agg(sums)
    rows = [(str(op), ran, took) for op, ran, took in by_op.iter_rows()]
    rows.append(("all", *made.costs.select(sums).row(0)))
    return {op: ran / took if took else None for op, ran, took in rows}
