"""Build the small tables of the ledger (syncs, file calls, journal commits, checkpoints) as DataFrames."""

from collections.abc import Callable

import numpy as np
import polars as pl

from analysis.adapters.proberecords import taken
from analysis.ledger.files import Inodes, Named
from analysis.ledger.records import Few
from analysis.ledger.timeline import Timeline
from analysis.schemas import ledger as schema
from analysis.schemas.ledger import CALLERS, FILES
from base.arrays import Ints, LastBefore, ints, pairs, unique


def nullable(values: Ints) -> pl.Series:
    """Return values with -1 as null."""
    series = pl.Series(values)
    return series.set(series < 0, None).cast(pl.Int64)


def words(places: np.ndarray, kind: pl.Enum) -> pl.Series:
    """Return the words of an Enum at `places`, null outside its range."""
    series = pl.Series(places)
    valid = series.set((series < 0) | (series >= len(kind.categories)), None)
    return valid.cast(pl.UInt8).cat.to(kind)


def named(values: np.ndarray, name: Callable[[int], str | None]) -> pl.Series:
    """Return the name of each value; `name` is called once per distinct value."""
    distinct = unique(values)
    names = pl.Series([name(value) for value in distinct.tolist()], dtype=pl.Categorical)
    return names.gather(np.searchsorted(distinct, values))


def syncs(sync: np.ndarray, line: Timeline, inodes: Inodes, names: Named) -> pl.DataFrame:
    """Return schema.SYNCS."""
    begin, inode = ints(sync["begin_ns"]), ints(sync["a"])
    own = np.isin(sync["tid"], line.tids)
    directory = (sync["flags"] & 2) > 0
    kind = np.where(directory, FILES.index("directory"), inodes.kind(inode, begin))
    # a name is recorded within the inode's first sync
    called = LastBefore(names.inode, names.time).event(inode, ints(sync["end_ns"]))
    columns = {
        "sync": np.arange(sync.size),
        "begin_ns": begin,
        "end_ns": ints(sync["end_ns"]),
        "tid": ints(sync["tid"]),
        "inode": inode,
        "file": words(kind, schema.FILE),
        "name": pl.Series(names.names, dtype=pl.Categorical).gather(nullable(called)),
        "datasync": (sync["flags"] & 1) > 0,
        "caller": words(ints(sync["flags"] >> 4) & 15, pl.Enum(CALLERS)),
        "result": ints(sync["n"].astype(np.int32)),
        "transaction": nullable(np.where(own, line.transaction(begin, ints(sync["tid"])), -1)),
        "vfs_call": nullable(np.where(own, line.call(begin), -1)),
    }
    return pl.DataFrame(columns, schema=schema.SYNCS)


def calls(vfs: pl.DataFrame, transactions: Ints) -> pl.DataFrame:
    """Return schema.VFS: the log of calls with each one's transaction, -1 for none."""
    lacking = [pl.lit(None, pl.Int64).alias(name) for name in ("page", "database") if name not in vfs.columns]
    return vfs.with_columns(*lacking, transaction=nullable(transactions)).select(list(schema.VFS))


def commits(few: Few, line: Timeline) -> pl.DataFrame:
    """Return schema.COMMITS."""
    rows, waits = few["commit"], few["commit_wait"]
    waits = taken(waits, np.isin(waits["tid"], line.tids))
    transaction = line.transaction(ints(waits["begin_ns"]), ints(waits["tid"]))
    waited, _ = pairs(ints(waits["a"])[transaction >= 0], transaction[transaction >= 0])
    tid = ints(rows["a"])
    low, high = (np.searchsorted(waited, tid, side) for side in ("left", "right"))
    columns = {
        "commit": tid,
        "begin_ns": ints(rows["begin_ns"]),
        "end_ns": ints(rows["end_ns"]),
        "sync_commit": ints(rows["flags"]),
        "blocks": ints(rows["n"]),
        "waiting": high - low,
    }
    return pl.DataFrame(columns, schema=schema.COMMITS)


def checkpoints(rows: np.ndarray) -> pl.DataFrame:
    """Return schema.CHECKPOINTS."""
    columns = {
        "checkpoint": np.arange(rows.size),
        "begin_ns": ints(rows["begin_ns"]),
        "end_ns": ints(rows["end_ns"]),
        "tid": ints(rows["tid"]),
        "reason": ints(rows["n"]),
    }
    return pl.DataFrame(columns, schema=schema.CHECKPOINTS)
