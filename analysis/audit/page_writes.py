"""Check page writes: once each, WAL pages reach the database, no WAL gaps; check the sums of deferred bytes.

A page cache writes a page again only after a further write to it.
"""

import numpy as np
import polars as pl

from analysis.checks.file_calls import fault
from analysis.ledger.build import Ledger
from analysis.ledger.contents import framed
from analysis.ledger.files import PAGE, pages
from base.arrays import first_after, ints

_ROUNDED = 1e-6  # relative: shares are fractions of bytes


def deferred(made: Ledger) -> list[str]:
    """Check that deferred bytes move once from the transaction that wrote them to the one that owns them.

    A transaction gives away at most the bytes it wrote. A command's content is older than the command.
    """
    late, costs = made.deferred, made.costs
    total = float(late["bytes"].sum())
    background = float(late.filter(pl.col("made_by").is_null())["bytes"].sum())
    given, taken = float(costs["deferred"].sum()), float(costs["for_others"].sum()) + background
    over = costs.filter(pl.col("for_others") > pl.col("bytes") * (1 + _ROUNDED))
    begins = made.given.transactions.select("transaction", "begin_ns")
    issued = made.ledger.select("command", "issue_ns", size="bytes")
    parts = late.join(begins, on="transaction").join(issued, on="command")
    early = parts.filter(pl.col("begin_ns") > pl.col("issue_ns"))
    sums = parts.group_by("command", "size").agg(pl.col("bytes").sum())
    large = sums.filter(pl.col("bytes") > pl.col("size") * (1 + _ROUNDED))
    wrong = [
        *fault(over, "transactions that wrote more for others than in total", "transaction", "bytes"),
        *fault(early, "deferred parts written before their transaction", "command", "transaction"),
        *fault(large, "commands with more deferred than written", "command", "bytes", "size"),
    ]
    for direction, size in (("given to", given), ("taken from", taken)):
        if abs(size - total) > _ROUNDED * max(total, 1):
            wrong.append(f"{total:.0f} bytes are deferred, but {size:.0f} are {direction} transactions")
    return wrong


def written_home(made: Ledger) -> list[str]:
    """Check that exactly the logged pages are written to the database, each after its last frame.

    The close checkpoints all pages. A frame with a wrong page number fails this check.
    """
    calls = made.vfs.with_columns(pl.col("database").fill_null(1))
    logged = calls.filter(pl.col("page").is_not_null()).group_by("database", "page")
    frames = logged.agg(pl.col("call").min().alias("first"), pl.col("call").max().alias("last"))
    if frames.is_empty():
        return []
    is_home = (pl.col("op") == "write") & (pl.col("file") == "database") & (pl.col("bytes") > 0)
    of_page = (pl.col("offset") // pl.col("bytes") + 1).alias("page")
    homes = calls.filter(is_home).group_by("database", of_page)
    written = homes.agg(pl.col("call").min().alias("begun"), pl.col("call").max().alias("done"))
    both = frames.join(written, on=["database", "page"], how="full", coalesce=True).sort("database", "page")
    left = both.filter(pl.col("last").is_not_null() & (pl.col("done").fill_null(-1) < pl.col("last")))
    before = pl.col("first").is_null() | (pl.col("begun") < pl.col("first"))
    unlogged = both.filter(pl.col("begun").is_not_null() & before)
    return [
        *fault(left, "logged pages that no checkpoint wrote to the database", "page", "last"),
        *fault(unlogged, "pages that a checkpoint wrote without a frame", "page", "begun"),
    ]


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
    return fault(twice.sort("call", "page"), "pages written again without a new xWrite", "call", "page")


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
    return fault(writes.filter(pl.Series(holes)), "xWrites past the end of a WAL", "call", "offset")


def directories(made: Ledger) -> list[str]:
    """Check that no page of a file that the engine opened is labelled as a directory's."""
    opened = made.vfs.filter(pl.col("op") == "open")["inode"].drop_nulls().implode()
    wrong = made.pieces.filter((pl.col("file") == "directory") & pl.col("inode").is_in(opened))
    return fault(wrong, "directory pages of a file", "sector", "inode")


LEDGER_CHECKS = (deferred, written_home, written_once, without_holes, directories)
