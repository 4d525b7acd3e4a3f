"""Look up the transaction, the sync and the file call that a thread was in at a time."""

import itertools
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.ledger.records import Few
from base.arrays import Ints, LastBefore, at, distinct, inside, ints, unique


@dataclass(frozen=True)
class Lanes:
    """Intervals of several threads: disjoint within a thread; they may overlap across threads."""

    last: LastBefore
    ends: Ints
    rows: Ints  # the row that each interval stands for

    def rows_at(self, times: Ints, tids: Ints) -> Ints:
        """Return the row that each thread was in at each time, -1 for none."""
        interval = self.last.event(tids, times)
        return np.where(times < np.r_[self.ends, -1].take(interval), np.r_[self.rows, -1].take(interval), -1)


@dataclass(frozen=True)
class Timeline:
    """The intervals of the driver's threads, or of a command's."""

    tids: Ints  # of the driver, or of the threads that ended a command's transactions
    transactions: tuple[Ints, Ints]  # begins, and the running maximum of the ends
    working: tuple[Ints, Ints]  # the phases that run transactions
    syncs: tuple[Ints, Ints]
    sync_rows: Ints  # indices among all syncs
    sync_tids: Ints
    calls: tuple[Ints, Ints]
    # a command's threads have transactions and syncs of their own; None: one driver has all
    lanes: tuple[Lanes, Lanes] | None = None

    def transaction(self, times: Ints, tids: Ints) -> Ints:
        """Return the transaction of each thread at each time, -1 for none."""
        row = self.lanes[0].rows_at(times, tids) if self.lanes else inside(times, *self.transactions)
        return np.where(inside(times, *self.working) >= 0, row, -1)

    def sync(self, times: Ints, tids: Ints) -> Ints:
        """Return the row of the sync that each thread was in, -1 for none."""
        row = self.lanes[1].rows_at(times, tids) if self.lanes else inside(times, *self.syncs)
        return at(self.sync_rows, row)

    def call(self, times: Ints) -> Ints:
        return inside(times, *self.calls)


def driver_tids(few: Few) -> Ints:
    """Return the thread ids of the driver: those named `driver`."""
    comm = few["comm"]
    named = comm["a"] == int.from_bytes(b"driver\0\0", "little")
    return unique(np.r_[ints(comm["n"][named]), ints(distinct(few["off_cpu"]["tid"]))])


def timeline(few: Few, transactions: pl.DataFrame, phases: pl.DataFrame, vfs: pl.DataFrame) -> Timeline:
    """Build the timeline of the driver's threads, or of the threads in `transactions`."""
    of_command = "tid" in transactions.columns
    tids, sync = unique(ints(transactions["tid"])) if of_command else driver_tids(few), few["sync"]
    rows = np.flatnonzero(np.isin(sync["tid"], tids))
    begins, ends, who = (ints(sync[name][rows]) for name in ("begin_ns", "end_ns", "tid"))
    lanes = None
    if of_command:
        own = innermost(*(ints(transactions[name]) for name in ("tid", "begin_ns", "end_ns")))
        lanes = (own, Lanes(LastBefore(who, begins), ends, np.arange(rows.size)))
    working = phases.filter(pl.col("transactions") > 0)
    first, last = edges(transactions)
    return Timeline(
        tids=tids,
        transactions=(first, np.maximum.accumulate(last)),
        working=edges(working),
        syncs=(begins, ends),
        sync_rows=rows,
        sync_tids=who,
        calls=edges(vfs),
        lanes=lanes,
    )


def innermost(tids: Ints, begins: Ints, ends: Ints) -> Lanes:
    """Build the lanes of transactions, which are ordered by begin.

    A thread may have several open, on several connections: the one that began last counts.
    """
    intervals: list[tuple[int, int, int, int]] = []  # begin, tid, end, number
    for tid in distinct(tids):
        rows = np.flatnonzero(tids == tid)
        starts = begins.take(rows).tolist()
        stops = ends.take(rows).tolist()
        following, under_way = 0, list[int]()
        times = sorted({*starts, *stops})
        for time, until in itertools.pairwise(times):
            while following < len(starts) and starts[following] <= time:
                under_way.append(following)
                following += 1
            under_way = [row for row in under_way if stops[row] > time]
            if under_way:
                intervals.append((time, tid, until, int(rows[under_way[-1]])))
    columns = np.array(sorted(intervals), np.int64).reshape(-1, 4).T
    return Lanes(LastBefore(columns[1], columns[0]), columns[2], columns[3])


def edges(table: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the begins and the ends of a table's rows."""
    return ints(table["begin_ns"]), ints(table["end_ns"])
