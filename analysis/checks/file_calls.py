"""Does the ledger agree with what SQLite asked for, by the log of its file calls?"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.ledger.build import Ledger
from analysis.ledger.contents import framed
from analysis.ledger.files import PAGE
from analysis.ledger.pieces import OF_ROLE
from base.arrays import ints
from model.filesystems import find


def first(wrong: pl.DataFrame, what: str, *columns: str) -> list[str]:
    """Say how many rows are wrong, and which is the first; nothing if none is."""
    if wrong.is_empty():
        return []
    row = wrong.select(columns).row(0, named=True)
    return [f"{wrong.height} {what}: first " + ", ".join(f"{k} {v}" for k, v in row.items())]


def unwritten(made: Ledger) -> pl.DataFrame:
    """Return the pieces of SQLite's files with pages that no xWrite of the run had."""
    of_file = pl.col("file").is_in(["database", "journal", *framed(made.vfs)])
    return made.pieces.filter(of_file & pl.col("vfs_call").is_null())


def files(made: Ledger) -> list[str]:
    """A piece of a file has that file's label, and was written by a call to that file.

    Or by none: a filesystem's garbage collector moves pages that nobody wrote, and marks them.
    """
    of_file = pl.col("file").cast(pl.String).replace_strict(OF_ROLE, default=None)
    label = pl.coalesce(pl.col("of"), pl.col("label")).cast(pl.String)
    table = made.pieces.filter(pl.col("file").is_not_null())
    wrong = table.filter(of_file != label)
    calls = made.vfs.select(vfs_call="call", call_file="file", call_inode="inode")
    called = table.join(calls, on="vfs_call", how="inner").filter(
        (pl.col("file") != pl.col("call_file")) | (pl.col("inode") != pl.col("call_inode"))
    )
    return [
        *first(wrong, "pieces labelled against their file", "sector", "label", "file"),
        *first(called, "pieces last written by a call to another file", "sector", "file", "vfs_call"),
        *first(
            unwritten(made).filter(~pl.col("moved") & pl.lit(made.given.calls)),
            "pieces of SQLite's files that it did not write",
            *("sector", "file", "offset"),
        ),
        *first(
            _moved_wrongly(made), "pieces marked as moved that nobody can have moved", "sector", "vfs_call"
        ),
    ]


def _moved_wrongly(made: Ledger) -> pl.DataFrame:
    """Return the pieces that are marked as moved by a garbage collector that there is not; or those
    that brought what SQLite had written to the page, if they are most of the marked ones.

    A collector moves what lies in a segment, whoever changes it; few of it is changed before it is
    written elsewhere.
    """
    moved = made.pieces.filter(pl.col("moved"))
    if moved.is_empty() or not find(made.given.layout.filesystem).collects:
        return moved
    page = pl.col("offset") // PAGE
    written = made.pieces.filter(pl.col("vfs_call").is_not_null()).group_by("vfs_call", page=page)
    brought = written.agg(brought=pl.col("command").min())
    known = moved.filter(pl.col("vfs_call").is_not_null()).with_columns(page=page)
    fresh = known.join(brought, on=["vfs_call", "page"]).filter(pl.col("command") == pl.col("brought"))
    return fresh if int(fresh["bytes"].sum()) * 2 > int(moved["bytes"].sum()) else fresh.clear()


def syncs_witnessed(made: Ledger) -> list[str]:
    """Each of SQLite's calls made the filesystem syncs it must, of its file; nobody else did."""
    if not made.given.calls:
        return []
    begin, end = made.given.window
    asked = made.syncs.filter(
        pl.col("caller").is_in(["fsync", "fdatasync"]) & pl.col("begin_ns").is_between(begin, end)
    )
    return unlike(asked.with_columns(is_directory=pl.col("file") == "directory"), made.witness, made.vfs)


def unlike(asked: pl.DataFrame, due: pl.DataFrame, vfs: pl.DataFrame) -> list[str]:
    """Say which calls made other syncs than they must: `due` (costs.witnessed_syncs). asked: of each sync its
    `vfs_call`, `inode`, and whether that `is_directory`."""
    had = asked.group_by("vfs_call").agg(
        had=pl.len(), inode=pl.col("inode").filter(~pl.col("is_directory")).first()
    )
    due = due.join(vfs.select("call", "op", call_inode="inode"), on="call")
    table = due.join(had, left_on="call", right_on="vfs_call", how="full", coalesce=True)
    wrong = table.filter(pl.col("had").fill_null(0) != pl.col("syncs").fill_null(0))
    other = table.filter((pl.col("op") == "sync") & (pl.col("inode") != pl.col("call_inode")))
    calls = ints(vfs["call"])
    lost = np.flatnonzero(calls != np.arange(calls.size))
    return [
        *([f"vfs.csv has call {calls[lost[0]]} in the place of {lost[0]}"] if lost.size else []),
        *first(wrong, "calls of SQLite and filesystem syncs disagree", "call", "op", "syncs", "had"),
        *first(other, "calls synced another file", "call", "inode", "call_inode"),
    ]
