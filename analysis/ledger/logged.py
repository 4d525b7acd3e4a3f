"""Which command of a device's own log is which of a ledger?"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.schemas import events
from base.arrays import Ints, ints

# What a command is in both, and when; a device does not know which writes are metadata.
ORDER = ("sector", "sectors", "kind", "begin_ns")


def beside(ledger: pl.DataFrame, log: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the commands of both in one order: the n-th of its kind at a place beside the n-th.

    log: devicelog.commands. Both have the columns of ORDER, end_ns and `number`, their place before. They
    are of the same commands where they have as many, and differ in none of the first three columns.
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
    """Return the ledger's number of each command of the log; None where they are not of the same."""
    own, seen = beside(ledger, log)
    what = list(ORDER[:3])
    if not own.select(what).equals(seen.select(what)):
        return None
    found = np.empty(seen.height, np.int64)
    found[ints(seen["number"])] = ints(own["number"])
    return found
