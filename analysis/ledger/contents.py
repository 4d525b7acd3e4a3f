"""Find the transactions that own the data of each file write, also if a checkpoint or compaction writes it.

A log holds copies of the database's pages; `page` of vfs.csv is the number of the logged page. A later
write of that page to the database, by a checkpoint, belongs to the transaction that wrote the last copy.

An engine that keeps pages in memory (`keep`) has a checkpoint write them to its WAL, too. Both writes
belong to the transaction that kept the page last.

An engine that moves its data in flushes and compactions reports the owners of the data in each such write
(moved.csv). The write belongs to several transactions, by their bytes in it.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from base.arrays import Ints, LastBefore, ints

_PAGES = 32  # bits of a page's number in a key


class Owners(NamedTuple):
    """The transactions that own the data of calls: those of call c are the rows from firsts[c] on, counts[c].

    Data from before the run has no owner, but its part of the weight.
    """

    firsts: Ints
    counts: Ints
    transactions: Ints
    weights: np.ndarray  # float64; at most 1 in a call


def owners(vfs: pl.DataFrame, calls: Ints, moved: pl.DataFrame | None) -> Owners:
    """Return the owners of the data that each call wrote.

    `calls`: the transaction of each row of `vfs`. moved: drivertables.MOVED; None: each call has data of one
    transaction.
    """
    single = contents(vfs, calls)
    columns = {"call": np.arange(calls.size), "transaction": single, "weight": np.ones(calls.size)}
    table = pl.DataFrame(columns)
    if moved is not None and moved.height:
        shared = _shared(vfs, calls, moved)
        table = pl.concat([table.join(shared, on="call", how="anti"), shared])
    table = table.filter(pl.col("transaction") >= 0).sort("call", "transaction")
    counts = np.bincount(ints(table["call"]), minlength=calls.size)
    return Owners(np.cumsum(counts) - counts, counts, ints(table["transaction"]), table["weight"].to_numpy())


def _shared(vfs: pl.DataFrame, calls: Ints, moved: pl.DataFrame) -> pl.DataFrame:
    """Return call, transaction and weight of each write of moved data.

    The rest of a file with such data, its index, belongs to the owners of all of it.
    """
    source = ints(moved["source"].fill_null(-1))
    parts = moved.select("call", "bytes", transaction=np.where(source < 0, -1, calls.take(source)))
    opened = (pl.col("op") == "open").cast(pl.Int64).cum_sum().over("inode")
    files = vfs.select("call", "op", "file", "inode", life=opened)
    named = files.join(moved.select(pl.col("call").unique()), on="call", how="semi")
    writes = files.filter((pl.col("op") == "write") & pl.col("file").is_in(named["file"].unique().to_list()))
    of_file = parts.join(files.select("call", "inode", "life"), on="call").drop("call")
    rest = writes.join(named, on="call", how="anti").select("call", "inode", "life")
    parts = pl.concat([parts, rest.join(of_file, on=["inode", "life"]).select(parts.columns)])
    sums = parts.group_by("call", "transaction").agg(pl.col("bytes").sum())
    weight = pl.col("bytes") / pl.col("bytes").sum().over("call")
    return sums.select("call", "transaction", weight=weight)


def framed(vfs: pl.DataFrame) -> list[str]:
    """Return the roles of the files that hold copies of pages as a WAL does."""
    frames = vfs.filter((pl.col("op") == "write") & pl.col("page").is_not_null())
    return sorted({"wal", *frames["file"].cast(pl.String)})


def contents(vfs: pl.DataFrame, calls: Ints) -> Ints:
    """Return the transaction that owns the data each call wrote, -1 if unknown.

    `calls`: the transaction of each row of `vfs`.
    """
    owners = calls.copy()
    is_page, kept = pl.col("page").is_not_null(), pl.col("op") == "keep"
    is_write = (pl.col("op") == "write") & (pl.col("bytes") > 0)
    home = is_write & (pl.col("file") == "database")
    if vfs.select(kept.any()).item():
        logged, written = _rows(vfs, kept & is_page), _rows(vfs, home | (is_write & is_page))
    else:
        logged, written = _rows(vfs, is_page), _rows(vfs, home)
    if not logged.size or not written.size:
        return owners
    page = pl.coalesce("page", pl.col("offset") // pl.col("bytes") + 1)
    if "database" in vfs.columns:
        page = pl.col("database").fill_null(0) * (1 << _PAGES) + page
    key = vfs.select(page).to_series()
    last = LastBefore(ints(key.gather(logged)), logged).event(ints(key.gather(written)), written)
    copied = np.flatnonzero(last >= 0)
    owners[written[copied]] = calls[logged[last[copied]]]
    return owners


def _rows(vfs: pl.DataFrame, condition: pl.Expr) -> Ints:
    return ints(vfs.select(condition).to_series().arg_true())
