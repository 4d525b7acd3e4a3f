"""Whose is what a write of a file holds? Of a checkpoint it is not that of who makes it.

A log holds copies of the database's pages; `page` of vfs.csv has the number of the page that is
logged with a write. A later write of that page to the database itself, by a checkpoint, holds
what the last such copy held: it is the transaction's that wrote the copy.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.ledger.arrays import Ints, LastBefore, ints


def known(vfs: pl.DataFrame) -> bool:
    """Whether the log of calls says which page is logged: those of earlier releases do not."""
    return "page" in vfs.columns


def contents(vfs: pl.DataFrame, calls: Ints) -> Ints:
    """Return the transaction whose content each call wrote, -1 for none that is known.

    `calls` has the transaction of each row of `vfs`.
    """
    found = calls.copy()
    if not known(vfs):
        return found
    logged = ints(vfs["page"].is_not_null().arg_true())
    home = (pl.col("op") == "write") & (pl.col("file") == "database") & (pl.col("bytes") > 0)
    written = ints(vfs.select(home).to_series().arg_true())
    if not logged.size or not written.size:
        return found
    offset, size = (ints(vfs[name].gather(written)) for name in ("offset", "bytes"))
    last = LastBefore(ints(vfs["page"].gather(logged)), logged).find(offset // size + 1, written)
    copied = np.flatnonzero(last >= 0)
    found[written[copied]] = calls[logged[last[copied]]]
    return found
