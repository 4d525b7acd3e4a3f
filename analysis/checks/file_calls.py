"""Check pages and syncs against the engine's logged file calls, and that synced pages were on the device."""

import numpy as np
import polars as pl

from analysis.ledger import costs
from analysis.ledger.build import Ledger
from analysis.ledger.contents import framed
from analysis.ledger.files import PAGE, PAGE_BITS, pages
from analysis.ledger.pieces import OF_ROLE
from analysis.ledger.small_tables import nullable
from analysis.ledger.timeline import edges
from analysis.run import Run
from base.arrays import Bools, Ints, LastBefore, at, first_after, inside, ints
from model import filesystems


def fault(wrong: pl.DataFrame, what: str, *columns: str) -> list[str]:
    """Return a message with the number of wrong rows and the first of them; empty if there are none."""
    if wrong.is_empty():
        return []
    row = wrong.select(columns).row(0, named=True)
    return [f"{wrong.height} {what}: first " + ", ".join(f"{k} {v}" for k, v in row.items())]


def unwritten(made: Ledger) -> pl.DataFrame:
    """Return the pieces of SQLite's files with pages that no xWrite of the run wrote; none without a log."""
    of_file = pl.col("file").is_in(["database", "journal", *framed(made.vfs)])
    return made.pieces.filter(of_file & pl.col("vfs_call").is_null() & pl.lit(made.given.calls))


def files(made: Ledger) -> list[str]:
    """Check that each piece of a file has that file's label and was written by a call on that file.

    A piece without a call is allowed if it is marked as moved: a filesystem's garbage collector moves pages.
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
        *fault(wrong, "pieces with another label than their file", "sector", "label", "file"),
        *fault(called, "pieces last written by a call to another file", "sector", "file", "vfs_call"),
        *fault(
            unwritten(made).filter(~pl.col("moved")),
            "pieces of SQLite's files that SQLite did not write",
            *("sector", "file", "offset"),
        ),
        *fault(
            _moved_wrongly(made), "pieces marked as moved that cannot have been moved", "sector", "vfs_call"
        ),
    ]


def _moved_wrongly(made: Ledger) -> pl.DataFrame:
    """Return the pieces that are wrongly marked as moved by a garbage collector.

    These are all, if the filesystem has no collector. Otherwise they are pieces that first brought a page
    that SQLite had written, if they make up most of the marked bytes. A collector moves segments whoever
    changes them, and little of a segment changes before it is written elsewhere.
    """
    moved = made.pieces.filter(pl.col("moved"))
    if moved.is_empty() or not filesystems.by_name(made.given.layout.filesystem).collects:
        return moved
    page = pl.col("offset") // PAGE
    written = made.pieces.filter(pl.col("vfs_call").is_not_null()).group_by("vfs_call", page=page)
    brought = written.agg(brought=pl.col("command").min())
    with_call = moved.filter(pl.col("vfs_call").is_not_null()).with_columns(page=page)
    fresh = with_call.join(brought, on=["vfs_call", "page"]).filter(pl.col("command") == pl.col("brought"))
    return fresh if int(fresh["bytes"].sum()) * 2 > int(moved["bytes"].sum()) else fresh.clear()


def syncs_witnessed(made: Ledger) -> list[str]:
    """Check that SQLite's calls caused exactly the filesystem syncs that they must, on the right file."""
    if not made.given.calls:
        return []
    begin, end = made.given.window
    synced = made.syncs.filter(
        pl.col("caller").is_in(["fsync", "fdatasync"]) & pl.col("begin_ns").is_between(begin, end)
    )
    return sync_mismatches(
        synced.with_columns(is_directory=pl.col("file") == "directory"), made.witness, made.vfs
    )


def syncs_without_ledger(run: Run) -> list[str]:
    """Check the same in a run that a filesystem's probe watched, but too few probes for a ledger."""
    ran, probes = run.driver, {"all", "filesystem", *filesystems.names()}
    if run.ledger is not None or not probes & set(run.probes) or not ran.engine.logs_calls(ran.config):
        return []
    if ran.vfs is None:
        return [] if run.missing else ["raw/driver/vfs.csv is missing"]
    begin, end = ran.window
    synced = run.events.filter(
        (pl.col("source") == "probe")
        & (pl.col("event") == "sync")
        & pl.col("reason").is_in(["fsync", "fdatasync"])
        & pl.col("begin_ns").is_between(begin, end)
        & (pl.col("dev").is_in(run.devices) if run.devices else pl.lit(True))
    )
    call = inside(ints(synced["begin_ns"]), *edges(ran.vfs))
    synced = synced.select("inode", "is_directory", vfs_call=nullable(call))
    due = costs.witnessed_syncs(ran.vfs.with_columns(transaction=pl.lit(None, pl.Int64)))
    return sync_mismatches(synced, due, ran.vfs)


def sync_mismatches(synced: pl.DataFrame, due: pl.DataFrame, vfs: pl.DataFrame) -> list[str]:
    """Return messages on calls that caused other syncs than `due` (costs.witnessed_syncs).

    synced: each sync's `vfs_call`, `inode` and `is_directory`.
    """
    had = synced.group_by("vfs_call").agg(
        had=pl.len(), inode=pl.col("inode").filter(~pl.col("is_directory")).first()
    )
    due = due.join(vfs.select("call", "op", call_inode="inode"), on="call")
    table = due.join(had, left_on="call", right_on="vfs_call", how="full", coalesce=True)
    wrong = table.filter(pl.col("had").fill_null(0) != pl.col("syncs").fill_null(0))
    other = table.filter((pl.col("op") == "sync") & (pl.col("inode") != pl.col("call_inode")))
    calls = ints(vfs["call"])
    lost = np.flatnonzero(calls != np.arange(calls.size))
    return [
        *([f"vfs.csv has call {calls[lost[0]]} where call {lost[0]} is expected"] if lost.size else []),
        *fault(wrong, "SQLite calls with another number of filesystem syncs", "call", "op", "syncs", "had"),
        *fault(other, "calls synced another file", "call", "inode", "call_inode"),
    ]


NEVER = np.iinfo(np.int64).max


def written_out(made: Ledger) -> list[str]:
    """Return a message on written and synced pages that were not on the device when the sync ended.

    Checks the last xWrite of a page before the sync. Skips pages that a truncate removed before it, and a
    file's first page where the filesystem may keep it in the inode. A copy in the journal is not enough, as a
    sync also writes the file's journalled pages to their home. It is enough if pages do come home, but none
    was there when its sync ended: Linux 6.1 leaves that to the next sync.
    """
    if not made.given.calls:
        return []
    write = made.vfs.filter((pl.col("op") == "write") & (pl.col("bytes") > 0))
    row, page = pages(ints(write["offset"]), ints(write["bytes"]))
    inode, begin, written = (ints(write[name])[row] for name in ("inode", "begin_ns", "end_ns"))

    syncs = made.vfs.filter(pl.col("op") == "sync").sort("begin_ns")
    begins, ends = ints(syncs["begin_ns"]), ints(syncs["end_ns"])
    key = (inode << PAGE_BITS) | page
    again = first_after(key, begin + 1, key, begin)
    sync = first_after(inode, written, ints(syncs["inode"]), begins)
    due = (sync <= made.given.window[1]) & (sync < again)
    due[due] = ~_removed(made.vfs, inode[due], page[due], begin[due], sync[due])
    due &= (page > 0) | (not filesystems.by_name(made.given.layout.filesystem).inline_data)
    call = ints(write["call"])[row]
    end = np.full(sync.size, -1)
    end[due] = ends[np.searchsorted(begins, sync[due])]
    wanted = (call << PAGE_BITS) | page
    is_home = pl.col("of").is_null()
    home = _first_of(*_brought(made, made.pieces.filter(is_home)), wanted)
    late = due & (home > end)
    if (late == due).all() and (home[due] < NEVER).any():
        late &= _first_of(*_brought(made, made.pieces.filter(~is_home)), wanted) > end
    lost = np.flatnonzero(late)
    if not lost.size:
        return []
    place = f"first call {call[lost[0]]}, page {page[lost[0]]}"
    return [
        f"{lost.size} pages that the engine wrote and synced were not on the device when the sync ended: "
        + place
    ]


def _brought(made: Ledger, pieces: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the key (xWrite and page) and the completion time of each file page in the pieces."""
    done = made.ledger.select("command", "complete_ns")
    rows = pieces.filter(pl.col("vfs_call").is_not_null()).join(done, on="command")
    row, page = pages(ints(rows["offset"]), ints(rows["bytes"]))
    return (ints(rows["vfs_call"])[row] << PAGE_BITS) | page, ints(rows["complete_ns"])[row]


def _first_of(keys: Ints, times: Ints, wanted: Ints) -> Ints:
    """Return the earliest time of each key, NEVER for a missing key."""
    return first_after(wanted, np.zeros(wanted.size, np.int64), keys, times)


def _removed(vfs: pl.DataFrame, inode: Ints, page: Ints, begin: Ints, end: Ints) -> Bools:
    """Return for each page whether the file was truncated below it between begin and end."""
    calls = vfs.filter(pl.col("op") == "truncate")
    files, sizes, times = (ints(calls[name]) for name in ("inode", "offset", "begin_ns"))
    following = LastBefore(files, -times)
    removed, left, since = np.zeros(inode.size, bool), np.arange(inode.size), begin
    while left.size:
        place = following.event(inode[left], -since)
        there = (place >= 0) & (at(times, place) < end[left])
        left, place = left[there], place[there]
        gone = page[left] * PAGE >= sizes[place]
        removed[left[gone]] = True
        left, since = left[~gone], times[place[~gone]] + 1
    return removed
