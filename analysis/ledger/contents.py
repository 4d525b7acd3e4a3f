"""Attribute the data of each file write to the transaction that changed it.

A log holds copies of the database's pages; `page` of vfs.csv is the number of the logged page. A later
write of that page to the database, by a checkpoint, belongs to the transaction that wrote the last copy.

An engine that keeps pages in memory (`keep`) has a checkpoint write them to its WAL, too. Both writes
belong to the transaction that kept the page last.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from base.arrays import Ints, LastBefore, ints

_PAGES = 32  # bits of a page's number in a key


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
