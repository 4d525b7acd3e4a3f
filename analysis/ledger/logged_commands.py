"""Match the commands of a device's own log with the block commands of a ledger, one to one."""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.schemas import events
from base.arrays import Ints, ints

# Columns that identify a command in both; a device cannot tell metadata writes.
ORDER = ("sector", "sectors", "kind", "begin_ns")


def aligned(ledger: pl.DataFrame, log: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return both tables in one order, so that the n-th command of a kind and place pairs with the n-th.

    log: devicelog.commands. Both get the columns of ORDER, end_ns and `number`, their original index.
    They hold the same commands if the row counts and the first three columns are equal.
    """
    own = ledger.select(
        pl.col("sector").fill_null(0),
        pl.col("rwbs").cast(pl.String),
        sectors=pl.col("bytes") // 512,
        begin_ns="issue_ns",
        end_ns="complete_ns",
    ).with_columns(events.block_kind().replace("write metadata", "write"))
    first, second = (table.with_row_index("number").sort(ORDER) for table in (own, log))
    return first, second


def numbers(ledger: pl.DataFrame, log: pl.DataFrame) -> Ints | None:
    """Return the ledger's index of each command of the log; None if the two do not hold the same commands."""
    own, seen = aligned(ledger, log)
    columns = list(ORDER[:3])
    if not own.select(columns).equals(seen.select(columns)):
        return None
    places = np.empty(seen.height, np.int64)
    places[ints(seen["number"])] = ints(own["number"])
    return places
