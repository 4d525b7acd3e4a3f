"""How the driver's tables are spoiled: rows, boundaries, phases and the pace of the clock."""

from __future__ import annotations

import numpy as np
import polars as pl
from side import Side

NS = ("begin_ns", "end_ns")


def set_rows(table: pl.DataFrame, column: str, places: np.ndarray, values: object) -> pl.DataFrame:
    """The table with other values in some rows of a column."""
    return table.with_columns(table[column].scatter(places.tolist(), values))


def moved_boundaries(run: Side, draw: np.random.Generator, places: np.ndarray) -> None:
    """Move the boundary between each of the transactions and the next one, by part of either."""
    table = run.transactions
    begin, end = (table[name].to_numpy().copy() for name in NS)
    share = draw.choice([-0.8, -0.3, -0.05, 0.05, 0.3, 0.8])
    for i in places.tolist():
        span = end[i] - begin[i] if share < 0 else end[i + 1] - begin[i + 1]
        by = int(span * share)
        end[i], begin[i + 1] = end[i] + by, begin[i + 1] + by
    run.transactions = table.with_columns(begin_ns=begin, end_ns=end)


def inner(run: Side) -> np.ndarray:
    """Transactions that one of the same phase follows."""
    phase = run.transactions["phase"].to_numpy()
    return np.flatnonzero(phase[:-1] == phase[1:])


def shorter_phases(side: Side, draw: np.random.Generator, share: float) -> None:
    """Move the end of the last workload phase, and the begin of the next, by a share of the phase."""
    table = side.phases
    at = int(np.flatnonzero(table["transactions"].to_numpy() > 0)[-1])
    by = int((table["end_ns"][at] - table["begin_ns"][at]) * share)
    span = table["end_ns"][at + 1] - table["begin_ns"][at + 1]
    by = min(by, span) if share > 0 else by
    table = set_rows(table, "end_ns", np.array([at]), [table["end_ns"][at] + by])
    side.phases = set_rows(table, "begin_ns", np.array([at + 1]), [table["begin_ns"][at + 1] + by])


def halved(side: Side, tables: tuple[str, ...]) -> None:
    """Let all times since the first begin have gone at half the pace."""
    zero = int(side.phases["begin_ns"][0])
    for name in tables:
        table = getattr(side, name)
        times = [column for column in (*NS, "time_ns") if column in table.columns]
        setattr(side, name, table.with_columns((pl.col(t) - zero) // 2 + zero for t in times))
