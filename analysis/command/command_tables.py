"""Build the tables of a watched command: syncs and bytes by file, block commands by thread and by kind."""

import bisect
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.checks import counts
from analysis.ledger import files
from analysis.ledger.background_io import Jobs, thread_names
from analysis.ledger.build import Ledger
from analysis.run import Run
from analysis.stats import report_tables
from base.arrays import ints

NAMELESS = "(no name known)"


@dataclass(frozen=True)
class Tables:
    """Sums over the window; None where the probes that a table needs were not all attached."""

    syncs: pl.DataFrame | None  # name, file, thread, caller: syncs, ns, longest_ns, failed
    files: pl.DataFrame | None  # name, file: bytes written home, bytes of them copied to a journal
    causes: pl.DataFrame | None  # thread, waited, reason: commands, bytes, flushes
    kinds: pl.DataFrame  # kind of block command: commands, bytes


def build(run: Run) -> Tables:
    """Return the tables of a watched command."""
    commands = counts.window_blocks(run, report_tables.block_source(run))
    kinds = (
        commands.group_by("kind")
        .agg(commands=pl.len(), bytes=pl.col("sectors").sum() * 512)
        .sort("commands", "kind", descending=[True, False])
    )
    made = run.ledger
    if made is None:
        return Tables(None, None, None, kinds)
    names = thread_names(made.few["comm"])
    return Tables(_syncs(made, names), _files(made), _causes(made, names), kinds)


def _syncs(made: Ledger, names: dict[int, str]) -> pl.DataFrame:
    begin, end = made.given.window
    took = pl.col("end_ns") - pl.col("begin_ns")
    threads = pl.col("tid").replace_strict(names, default="?", return_dtype=pl.String)
    words = [pl.col(name).cast(pl.String) for name in ("file", "caller")]
    return (
        made.syncs.filter(pl.col("begin_ns").is_between(begin, end, closed="left"))
        .with_columns(pl.col("name").cast(pl.String).fill_null(NAMELESS), *words, thread=threads)
        .group_by("name", "file", "thread", "caller")
        .agg(
            syncs=pl.len(),
            ns=took.sum(),
            longest_ns=took.max(),
            failed=(pl.col("result") != 0).sum(),
        )
        .sort("syncs", "name", "thread", descending=[True, False, False])
    )


def file_names(made: Ledger, rows: pl.DataFrame) -> list[str]:
    """Return the name of each row's file at its time; rows: inode, time_ns (the issue of its command).

    The name is taken from the file's next sync, else from the list of files after the run, else from its last
    sync. An inode number may be reused: names of another file with the same number do not count.
    """
    listed, inode_lives = dict(made.given.listed), made.given.lives
    synced: dict[tuple[int, int], tuple[list[int], list[str]]] = {}
    of_file = made.syncs.filter(pl.col("name").is_not_null()).sort("end_ns")
    for inode, end, name in of_file.select("inode", "end_ns", pl.col("name").cast(pl.String)).iter_rows():
        ends, names = synced.setdefault((inode, files.life(inode_lives, inode, end)), ([], []))
        ends.append(end)
        names.append(name)
    result = []
    for inode, time in rows.select("inode", "time_ns").iter_rows():
        life = files.life(inode_lives, inode, time)
        ends, names = synced.get((inode, life), ([], []))
        place = bisect.bisect_left(ends, time)
        if place < len(names):
            result.append(names[place])
        else:
            name = listed.get(inode) if life == files.last_life(inode_lives, inode) else None
            result.append(name or (names[-1] if names else NAMELESS))
    return result


def _files(made: Ledger) -> pl.DataFrame:
    issued = made.ledger.select("command", time_ns="issue_ns")
    of_file = made.pieces.filter(pl.col("inode").is_not_null()).join(issued, on="command", how="left")
    copied = pl.col("of").is_not_null()
    return (
        of_file.with_columns(
            pl.col("file").cast(pl.String), name=pl.Series(file_names(made, of_file), dtype=pl.String)
        )
        .group_by("name", "file")
        .agg(
            bytes=pl.col("bytes").filter(~copied).sum(),
            journal_bytes=pl.col("bytes").filter(copied).sum(),
        )
        .sort("bytes", "name", descending=[True, False])
    )


def _causes(made: Ledger, names: dict[int, str]) -> pl.DataFrame:
    """Return commands and bytes by submitting thread, waiting thread, and reason for the commands."""
    table = made.ledger.select(
        "command",
        "commit",
        "bytes",
        "queue_ns",
        kind=pl.col("kind").cast(pl.String),
        tid=pl.col("tid").fill_null(-1),
    )
    waited = _waiters(made, names, table)
    is_write = ~pl.col("kind").is_in(["flush", "read", "discard"])
    # a command that a thread waits for is attributed to the waiting thread; others have the ledger's reason
    causes = table.select(
        pl.Series("thread", made.ledger["comm"].cast(pl.String).fill_null("?")),
        pl.Series("waited", waited),
        pl.Series("reason", made.ledger["no_transaction"].cast(pl.String)),
        pl.Series("in_sync", _submitted_in_sync(made, table)),
        pl.Series("drain", made.ledger["phase"].cast(pl.String) == "drain").fill_null(False),
        "kind",
        pl.when(is_write).then("bytes").otherwise(0).alias("bytes"),
    ).with_columns(
        pl.when(pl.col("in_sync"))
        .then(pl.lit("its own sync"))
        .when(pl.col("drain"))
        .then(pl.lit("drain"))
        .when(pl.col("waited") != "")
        .then(pl.lit("waited for"))
        .when(pl.col("reason").is_in(["write back", "journal", "garbage collection"]))
        .then("reason")
        .otherwise(pl.lit("not in a sync"))
        .alias("reason")
    )
    flush = (pl.col("kind") == "flush").sum()
    return (
        causes.group_by("thread", "waited", "reason")
        .agg(commands=pl.len(), bytes=pl.col("bytes").sum(), flushes=flush)
        .sort("bytes", "commands", "thread", descending=[True, True, False])
    )


def _submitted_in_sync(made: Ledger, table: pl.DataFrame) -> np.ndarray:
    """Return for each command whether its thread was in a sync when it was queued."""
    time = ints(table["queue_ns"].fill_null(-1))
    return Jobs(made.few["sync"]).containing(time, ints(table["tid"])) >= 0


def _waiters(made: Ledger, names: dict[int, str], table: pl.DataFrame) -> list[str]:
    """Return the names of the threads that waited for each command.

    A commit's commands have the threads that waited for the commit. Commands of another thread's flush or
    checkpoint have the threads with a sync around it.
    """
    waits = made.few["commit_wait"]
    of_commit: dict[int, set[str]] = {}
    for commit, tid in zip(waits["a"].tolist(), waits["tid"].tolist(), strict=True):
        of_commit.setdefault(commit, set()).add(names.get(tid, "?"))
    jobs = [
        (row["tid"], row["begin_ns"], row["end_ns"])
        for name in ("flush", "checkpoint")
        for row in made.few[name]
    ]
    syncs = made.syncs.select("tid", "begin_ns", "end_ns")
    waiters = []
    by_thread: dict[int, list[tuple[int, int, str]]] = {}
    for tid, begin, end in jobs:
        inside = syncs.filter((pl.col("begin_ns") <= int(begin)) & (pl.col("end_ns") >= int(end)))
        if int(tid) in inside["tid"]:  # the thread does it in its own sync
            inside = inside.clear()
        who = ", ".join(sorted({names.get(thread, "?") for thread in inside["tid"].to_list()}))
        by_thread.setdefault(int(tid), []).append((int(begin), int(end), who))
    for commit, tid, time in table.select("commit", "tid", "queue_ns").iter_rows():
        if commit is not None:
            waiters.append(", ".join(sorted(of_commit.get(commit, set()))))
        else:
            mine = by_thread.get(tid, [])
            waiters.append(next((who for begin, end, who in mine if begin <= (time or -1) <= end), ""))
    return waiters
