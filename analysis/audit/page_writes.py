"""Check that the device gets each page that an engine wrote once, and that a WAL is written without gaps.

A page cache writes a page again only after a further write to it.
"""

import numpy as np
import polars as pl

from analysis.checks.file_calls import first
from analysis.ledger.build import Ledger
from analysis.ledger.contents import framed
from analysis.ledger.files import PAGE, pages
from base.arrays import first_after, ints


def written_once(made: Ledger) -> list[str]:
    """Check that the device got the data of an xWrite once per page.

    Not checked: pages moved by garbage collection; pages written before the call ended, which may change them
    again; files truncated since, as that may change the last page.
    """
    calls = made.vfs.select(vfs_call="call", of_inode="inode", called_ns="end_ns")
    queued = made.ledger.select("command", "queue_ns")
    rows = (
        made.pieces.filter(pl.col("of").is_null() & ~pl.col("moved") & pl.col("vfs_call").is_not_null())
        .join(calls, on="vfs_call")
        .join(queued, on="command")
        .filter(pl.col("queue_ns") > pl.col("called_ns"))
    )
    truncates = made.vfs.filter(pl.col("op") == "truncate")
    truncated = first_after(
        ints(rows["inode"]), ints(rows["called_ns"]), ints(truncates["inode"]), ints(truncates["begin_ns"])
    )
    rows = rows.filter(pl.Series(truncated > ints(rows["queue_ns"]), dtype=pl.Boolean))
    begin, size = ints(rows["offset"]), ints(rows["bytes"])
    row, page = pages(begin, size)
    part = np.minimum((begin + size)[row], (page + 1) * PAGE) - np.maximum(begin[row], page * PAGE)
    each = pl.DataFrame({"call": ints(rows["vfs_call"])[row], "page": page, "bytes": part})
    twice = each.group_by("call", "page").agg(pl.col("bytes").sum()).filter(pl.col("bytes") > PAGE)
    return first(twice.sort("call", "page"), "pages written again without a new xWrite", "call", "page")


def without_holes(made: Ledger) -> list[str]:
    """Check that a WAL is written without gaps: no xWrite begins after the end of all earlier ones."""
    writes = made.vfs.filter((pl.col("op") == "write") & pl.col("file").is_in(framed(made.vfs)))
    writes = writes.sort("inode", maintain_order=True)
    offset, size = ints(writes["offset"]), ints(writes["bytes"])
    end, holes = offset + size, np.zeros(offset.size, bool)
    # a WAL is restarted when the database has all of it
    new_file = np.diff(ints(writes["inode"]), prepend=-1) != 0
    for rows in np.split(np.arange(offset.size), np.flatnonzero((offset == 0) | new_file)):
        # the end of a WAL that existed before call logging is unknown
        holes[rows[1:]] = offset[rows[1:]] > np.maximum.accumulate(end[rows])[:-1]
    return first(writes.filter(pl.Series(holes)), "xWrites past the end of a WAL", "call", "offset")


def directories(made: Ledger) -> list[str]:
    """Check that no page of a file that the engine opened is labelled as a directory's."""
    opened = made.vfs.filter(pl.col("op") == "open")["inode"].drop_nulls().implode()
    wrong = made.pieces.filter((pl.col("file") == "directory") & pl.col("inode").is_in(opened))
    return first(wrong, "directory pages of a file", "sector", "inode")


LEDGER_CHECKS = (written_once, without_holes, directories)
