"""What the driver's thread was in the middle of, at any time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.ledger.arrays import Ints, at, distinct, inside, ints, unique
from analysis.ledger.records import Few


@dataclass(frozen=True)
class Timeline:
    """What the driver's thread was in the middle of, at any time."""

    tids: Ints  # of the driver
    transactions: tuple[Ints, Ints]  # begins, ends
    working: tuple[Ints, Ints]  # the phases that run transactions
    syncs: tuple[Ints, Ints]
    sync_rows: Ints  # their rows among all syncs
    calls: tuple[Ints, Ints]

    def transaction(self, times: Ints) -> Ints:
        return np.where(inside(times, *self.working) >= 0, inside(times, *self.transactions), -1)

    def sync(self, times: Ints) -> Ints:
        row = inside(times, *self.syncs)
        return at(self.sync_rows, row)

    def call(self, times: Ints) -> Ints:
        return inside(times, *self.calls)


def driver_tids(few: Few) -> Ints:
    """Return the thread ids of the driver: those whose name is `driver`."""
    comm = few["comm"]
    named = comm["a"] == int.from_bytes(b"driver\0\0", "little")
    return unique(np.r_[ints(comm["n"][named]), ints(distinct(few["off_cpu"]["tid"]))])


def timeline(few: Few, transactions: pl.DataFrame, phases: pl.DataFrame, vfs: pl.DataFrame) -> Timeline:
    """Lay out the driver's thread."""
    tids, sync = driver_tids(few), few["sync"]
    rows = np.flatnonzero(np.isin(sync["tid"], tids))
    working = phases.filter(pl.col("transactions") > 0)
    return Timeline(
        tids=tids,
        transactions=edges(transactions),
        working=edges(working),
        syncs=(ints(sync["begin_ns"][rows]), ints(sync["end_ns"][rows])),
        sync_rows=rows,
        calls=edges(vfs),
    )


def edges(table: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the begins and the ends of a table's rows."""
    return ints(table["begin_ns"]), ints(table["end_ns"])
