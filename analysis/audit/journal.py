"""Is each journal commit's record true: by its blocks, its time, its thread and who waited for it?

A filesystem's journal may be written by commits that are recorded each (`commits` of
model/filesystems/). What has no such journal is not asked.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.adapters.layout import JOURNAL
from analysis.adapters.proberecords import taken
from analysis.checks.file_calls import first
from analysis.ledger.build import Ledger
from analysis.schemas.ledger import LABELS
from base.arrays import Ints, at, ints
from model.filesystems import find


def whole(made: Ledger) -> list[str]:
    """The commits are numbered one after another; each has its blocks, its time, its waits."""
    if not find(made.given.layout.filesystem).commits:
        return []
    tids = ints(made.commits["commit"])
    gaps = np.flatnonzero(np.diff(tids) != 1)
    found = [f"{gaps.size} gaps in the journal's commits, first after {tids[gaps[0]]}"] if gaps.size else []
    return [*found, *_blocks(made), *_ends(made), *_in_time(made), *_submitted(made), *_waits(made)]


def _journal(made: Ledger) -> tuple[pl.DataFrame, Ints]:
    """Return what was written to the journal but its superblock, its first block; and the places of
    the commands that wrote only that."""
    layout = made.given.layout
    superblock = int(layout.starts[layout.labels == JOURNAL][0]) if (layout.labels == JOURNAL).any() else -1
    label = ints(made.pieces["label"].to_physical())
    is_superblock = (ints(made.pieces["sector"]) == superblock) & (ints(made.pieces["bytes"]) <= 4096)
    command = ints(made.pieces["command"])
    number = made.ledger.height
    others = np.bincount(command[~is_superblock], minlength=number)
    alone = (np.bincount(command[is_superblock], minlength=number) > 0) & (others == 0)
    kept = (label == LABELS.index("filesystem journal")) & ~is_superblock
    return made.pieces.filter(pl.Series(kept)), np.flatnonzero(alone)


def _commit(made: Ledger) -> Ints:
    """Return the number of the commit of each command, -1 for none."""
    return np.array(made.ledger["commit"].fill_null(-1))


def _blocks(made: Ledger) -> list[str]:
    """Each commit wrote as many blocks to the journal as the filesystem counted:
    descriptors, copies and the commit block."""
    pieces, _ = _journal(made)
    commit = _commit(made).take(ints(pieces["command"]))
    lost = pieces.filter(pl.Series(commit < 0))
    written = pl.DataFrame({"commit": commit, "written": ints(pieces["bytes"]) // 4096})
    begin, end = made.given.window
    due = made.commits.filter((pl.col("begin_ns") >= begin) & (pl.col("end_ns") <= end))
    table = due.join(written.group_by("commit").sum(), on="commit", how="left").with_columns(
        pl.col("written").fill_null(0)
    )
    wrong = table.filter(pl.col("written") != pl.col("blocks"))
    return [
        *first(lost, "pieces of the journal belong to no commit", "command", "sector"),
        *first(wrong, "commits wrote other than the blocks they logged", "commit", "blocks", "written"),
    ]


def _ends(made: Ledger) -> list[str]:
    """A commit ends with one command that has FUA: its last block. None has, where the device has no FUA or
    the filesystem asks for none."""
    begin, end = made.given.window
    fua = made.ledger.filter(
        pl.col("rwbs").cast(pl.String).str.contains("WF") & pl.col("commit").is_not_null()
    )
    pieces, _ = _journal(made)
    of_commits = fua.filter(pl.col("command").is_in(pieces["command"].implode()))
    due = made.commits.filter((pl.col("begin_ns") >= begin) & (pl.col("end_ns") <= end))
    table = due.join(of_commits.group_by("commit").agg(fua=pl.len()), on="commit", how="left")
    wrong = table.filter(pl.col("fua").fill_null(0) != int(table["fua"].count() > 0))
    return first(wrong, "commits have not one command with FUA", "commit", "fua")


def _in_time(made: Ledger) -> list[str]:
    """Each command of a commit was issued and done within it. The journal's superblock may go ahead."""
    _, superblock = _journal(made)
    commit = _commit(made)
    commit[superblock] = -1
    tids = ints(made.commits["commit"])
    row = np.searchsorted(tids, commit) if tids.size else commit
    begin, end = (at(ints(made.commits[name]), row) for name in ("begin_ns", "end_ns"))
    issue, complete = ints(made.ledger["issue_ns"]), ints(made.ledger["complete_ns"])
    wrong = (commit >= 0) & ((issue < begin) | (complete > end))
    return first(made.ledger.filter(pl.Series(wrong)), "commands outside their commit", "command", "commit")


def _submitted(made: Ledger) -> list[str]:
    """The journal is written by the thread that commits; its superblock by whoever checkpoints."""
    pieces, _ = _journal(made)
    tid = ints(made.ledger["tid"].fill_null(-1)).take(ints(pieces["command"]))
    wrong = pieces.filter(pl.Series(~np.isin(tid, made.few["commit"]["tid"])))
    return first(wrong, "pieces of the journal are from a thread that does not commit", "command", "sector")


def _waits(made: Ledger) -> list[str]:
    """Who waited within the window for a commit waited for one that has a record, until its last block was
    written at least. How long after it a wait ends is up to who has the CPU."""
    begin, end = made.given.window
    waits = made.few["commit_wait"]
    waits = taken(waits, (waits["begin_ns"] >= begin) & (waits["end_ns"] <= end))
    known = np.isin(waits["a"], made.few["commit"]["a"])
    pieces, _ = _journal(made)
    command = ints(pieces["command"])
    done = pl.DataFrame(
        {
            "commit": _commit(made).take(command),
            "done_ns": ints(made.ledger["complete_ns"]).take(command),
        }
    )
    table = (
        pl.DataFrame({"commit": ints(waits["a"]), "end_ns": ints(waits["end_ns"])})
        .filter(pl.Series(known))
        .join(done.group_by("commit").max(), on="commit", how="left")
    )
    early = table.filter(pl.col("end_ns") < pl.col("done_ns"))
    unknown = waits["a"][~known]
    return [
        *([f"commit {unknown[0]} was waited for and has no record"] if unknown.size else []),
        *first(early, "waits for a commit end before it is written", "commit", "end_ns"),
    ]


OF_LEDGER = (whole,)
