"""Find transactions acknowledged with too few FLUSHes: a power cut right after them is tried first.

If the settings promise that acknowledged transactions survive, a transaction that changed something needs a
completed FLUSH or FUA write between its begin and its acknowledgement. On a device without a volatile cache,
and for CRASH=os, a completed write is enough. Without it SQLite, the VFS, the filesystem or the kernel failed
to make the transaction durable. A transaction with fewer FLUSHes than most of its operation may lack one of
several syncs; for CRASH=os the number of writes shows nothing of the kind. Such transactions are rare, so
finding one must not depend on the seed.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from base.arrays import Ints, ints
from model import durability
from model.cell import Cell
from model.crash_points.durable import Commands
from model.crash_points.recorded_run import Ran
from model.engines.survival import MOST_LOST


class Unsynced(NamedTuple):
    """The next command after each such acknowledgement, ascending: until it arrives, the device is as the
    transaction left it. none: of transactions without a FLUSH; fewer: with fewer than most."""

    none: list[int]
    fewer: list[int]


def crash_points(cell: Cell, commands: Commands, ran: Ran) -> Unsynced:
    """Return the crash points of a run; none if the settings do not promise each transaction."""
    survives = durability.promised(cell)
    promise = survives.power if cell.crash == "power" else survives.system
    if MOST_LOST.get(promise) is None:
        return Unsynced([], [])
    changed = ran.commits.filter(pl.col("changes") > 0)
    begins, ends = (ints(changed[name]) for name in ("begin_ns", "end_ns"))
    # after a system crash, the device has all commands
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
    """Return for each transaction how many FLUSHes most of its operation had; the larger of equally frequent
    numbers."""
    table = pl.DataFrame({"op": ops, "had": had})
    return ints(table.select(pl.col("had").mode().max().over("op"))["had"])
