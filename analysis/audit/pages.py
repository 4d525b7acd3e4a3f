"""Is each page that the engine wrote written home once, and in its place?

A page cache writes a page because somebody wrote to it, and then not again until somebody did.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.checks.file_calls import first
from analysis.ledger.build import Ledger
from analysis.ledger.contents import framed
from analysis.ledger.files import PAGE, pages
from base.arrays import first_after, ints


def written_once(made: Ledger) -> list[str]:
    """What an xWrite put into a page was written home once.

    But for what a garbage collector moved; what was written before the call had ended, which may have changed
    the page again; and of a file that was truncated since, as that may change its last page.
    """
    calls = made.vfs.select(vfs_call="call", of_inode="inode", called_ns="end_ns")
    queued = made.ledger.select("command", "queue_ns")
    rows = (
        made.pieces.filter(pl.col("of").is_null() & ~pl.col("moved") & pl.col("vfs_call").is_not_null())
        .join(calls, on="vfs_call")
        .join(queued, on="command")
        .filter(pl.col("queue_ns") > pl.col("called_ns"))
    )
    cut = made.vfs.filter(pl.col("op") == "truncate")
    truncated = first_after(
        ints(rows["inode"]), ints(rows["called_ns"]), ints(cut["inode"]), ints(cut["begin_ns"])
    )
    rows = rows.filter(pl.Series(truncated > ints(rows["queue_ns"]), dtype=pl.Boolean))
    begin, size = ints(rows["offset"]), ints(rows["bytes"])
    row, page = pages(begin, size)
    part = np.minimum((begin + size)[row], (page + 1) * PAGE) - np.maximum(begin[row], page * PAGE)
    each = pl.DataFrame({"call": ints(rows["vfs_call"])[row], "page": page, "bytes": part})
    twice = each.group_by("call", "page").agg(pl.col("bytes").sum()).filter(pl.col("bytes") > PAGE)
    return first(twice.sort("call", "page"), "pages written again that nobody wrote to", "call", "page")


def without_holes(made: Ledger) -> list[str]:
    """A WAL is written from its begin on: no xWrite of it begins behind the end of those before."""
    writes = made.vfs.filter((pl.col("op") == "write") & pl.col("file").is_in(framed(made.vfs)))
    writes = writes.sort("inode", maintain_order=True)
    offset, size = ints(writes["offset"]), ints(writes["bytes"])
    end, holes = offset + size, np.zeros(offset.size, bool)
    # it begins anew when all of it is in the database
    another = np.diff(ints(writes["inode"]), prepend=-1) != 0
    for rows in np.split(np.arange(offset.size), np.flatnonzero((offset == 0) | another)):
        # where the log of calls begins with a WAL that is there, its end is not known
        holes[rows[1:]] = offset[rows[1:]] > np.maximum.accumulate(end[rows])[:-1]
    return first(writes.filter(pl.Series(holes)), "xWrites of a WAL behind its end", "call", "offset")


def directories(made: Ledger) -> list[str]:
    """No page of a file that the engine opened is a directory's."""
    opened = made.vfs.filter(pl.col("op") == "open")["inode"].drop_nulls().implode()
    wrong = made.pieces.filter((pl.col("file") == "directory") & pl.col("inode").is_in(opened))
    return first(wrong, "pages of a directory that is a file", "sector", "inode")


OF_LEDGER = (written_once, without_holes, directories)
