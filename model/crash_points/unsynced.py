"""Transactions acknowledged with too few FLUSHes: the crash points that are tried first.

If the settings promise that acknowledged transactions survive, a transaction that changed something needs a
completed FLUSH or FUA write between its begin and its acknowledgement. On a device without a volatile cache,
and for CRASH=os, a completed write is enough. Without it SQLite, the VFS, the filesystem or the kernel failed
to make the transaction durable. A transaction with fewer FLUSHes than most of its operation may lack one of
several syncs; for CRASH=os the number of writes shows nothing of the kind. Such transactions are rare, so
finding one must not depend on the seed.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
import polars as pl

from base.arrays import Ints, ints
from model import durability
from model.cell import Cell
from model.crash_points.durable import Commands
from model.crash_points.ran import Ran
from model.engines.survival import MOST_LOST


class Unsynced(NamedTuple):
    """The commands that came next behind such acknowledgements, each once, in their order: until one comes
    the device is as the transaction left it. none: of transactions with no FLUSH; fewer: with fewer than
    most."""

    none: list[int]
    fewer: list[int]


def crash_points(cell: Cell, commands: Commands, ran: Ran) -> Unsynced:
    """Return those of a run; where the settings promise nothing of each transaction there are none."""
    survives = durability.promised(cell)
    promise = survives.power if cell.crash == "power" else survives.system
    if MOST_LOST.get(promise) is None:
        return Unsynced([], [])
    changed = ran.transactions.filter(pl.col("changes") > 0)
    begins, ends = (ints(changed[name]) for name in ("begin_ns", "end_ns"))
    # when a system crashes, its device keeps all that it was given
    by_writes = cell.crash != "power"
    cached = commands.cache.bytes and not by_writes
    barriers = commands.is_flush | commands.is_fua if cached else commands.is_write
    done = np.sort(commands.end[barriers & (commands.end > 0)])
    had = np.searchsorted(done, ends, side="right") - np.searchsorted(done, begins)
    following = np.searchsorted(commands.begin, ends, side="right")
    inside = following < commands.arrived(ran.window[1])
    none, fewer = inside & (had == 0), inside & (had > 0) & (had < _most(changed["op"], had))
    first = np.unique(following[none]).tolist()
    if by_writes:
        return Unsynced(first, [])
    return Unsynced(first, sorted({*following[fewer].tolist()}.difference(first)))


def _most(ops: pl.Series, had: np.ndarray) -> Ints:
    """Return of each transaction how many FLUSHes most of its operation had; of two numbers that as many had,
    the larger."""
    found = dict[str, Counter[int]]()
    for op, count in zip(ops.to_list(), had.tolist(), strict=True):
        found.setdefault(str(op), Counter())[count] += 1
    most = {op: max(counts, key=lambda count: (counts[count], count)) for op, counts in found.items()}
    return ints(pl.Series([most[str(op)] for op in ops.to_list()], dtype=pl.Int64))
