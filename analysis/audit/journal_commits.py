"""Check each filesystem journal commit: its number of blocks, times, FUA end, thread, and who waited for it.

Only filesystems with recorded commits are checked (`commits` in model/filesystems/).
"""

import numpy as np
import polars as pl

from analysis.adapters.layouts import JOURNAL
from analysis.adapters.proberecords import taken
from analysis.checks.file_calls import fault
from analysis.ledger.build import Ledger
from analysis.schemas.ledger import LABELS
from base.arrays import Ints, at, ints
from model import filesystems


def consistent(made: Ledger) -> list[str]:
    """Check that commit numbers have no gap, and that each commit agrees with its blocks, time and waits."""
    if not filesystems.by_name(made.given.layout.filesystem).commits:
        return []
    tids = ints(made.commits["commit"])
    gaps = np.flatnonzero(np.diff(tids) != 1)
    missing = [f"{gaps.size} gaps in the journal's commits, first after {tids[gaps[0]]}"] if gaps.size else []
    pieces, superblock = _journal(made)
    return [
        *missing,
        *_blocks(made, pieces),
        *_ends(made, pieces),
        *_in_time(made, superblock),
        *_submitted(made, pieces),
        *_waits(made, pieces),
    ]


def _journal(made: Ledger) -> tuple[pl.DataFrame, Ints]:
    """Return the pieces written to the journal without its superblock, and the commands that wrote only the
    superblock, which is the journal's first block."""
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
    """Return the commit number of each command, -1 for none."""
    return np.array(made.ledger["commit"].fill_null(-1))


def _in_window(made: Ledger) -> pl.DataFrame:
    """Return the commits that lie within the window."""
    begin, end = made.given.window
    return made.commits.filter((pl.col("begin_ns") >= begin) & (pl.col("end_ns") <= end))


def _blocks(made: Ledger, pieces: pl.DataFrame) -> list[str]:
    """Check that each commit wrote as many journal blocks as the filesystem counted.

    These are descriptors, copies and the commit block.
    """
    commit = _commit(made).take(ints(pieces["command"]))
    lost = pieces.filter(pl.Series(commit < 0))
    written = pl.DataFrame({"commit": commit, "written": ints(pieces["bytes"]) // 4096})
    table = (
        _in_window(made)
        .join(written.group_by("commit").sum(), on="commit", how="left")
        .with_columns(pl.col("written").fill_null(0))
    )
    wrong = table.filter(pl.col("written") != pl.col("blocks"))
    return [
        *fault(lost, "pieces of the journal belong to no commit", "command", "sector"),
        *fault(wrong, "commits did not write the blocks they logged", "commit", "blocks", "written"),
    ]


def _ends(made: Ledger, pieces: pl.DataFrame) -> list[str]:
    """Check that each commit ends with one FUA command, its last block.

    Without FUA on the device or in the filesystem's requests, none has one.
    """
    fua = made.ledger.filter(
        pl.col("rwbs").cast(pl.String).str.contains("WF") & pl.col("commit").is_not_null()
    )
    of_commits = fua.filter(pl.col("command").is_in(pieces["command"].implode()))
    table = _in_window(made).join(of_commits.group_by("commit").agg(fua=pl.len()), on="commit", how="left")
    wrong = table.filter(pl.col("fua").fill_null(0) != int(table["fua"].count() > 0))
    return fault(wrong, "commits do not have one command with FUA", "commit", "fua")


def _in_time(made: Ledger, superblock: Ints) -> list[str]:
    """Check that each command of a commit was issued and completed within it; a superblock may precede it."""
    commit = _commit(made)
    commit[superblock] = -1
    tids = ints(made.commits["commit"])
    row = np.searchsorted(tids, commit) if tids.size else commit
    begin, end = (at(ints(made.commits[name]), row) for name in ("begin_ns", "end_ns"))
    issue, complete = ints(made.ledger["issue_ns"]), ints(made.ledger["complete_ns"])
    wrong = (commit >= 0) & ((issue < begin) | (complete > end))
    return fault(made.ledger.filter(pl.Series(wrong)), "commands outside their commit", "command", "commit")


def _submitted(made: Ledger, pieces: pl.DataFrame) -> list[str]:
    """Check that the committing thread writes the journal; any thread may write its superblock."""
    tid = ints(made.ledger["tid"].fill_null(-1)).take(ints(pieces["command"]))
    wrong = pieces.filter(pl.Series(~np.isin(tid, made.few["commit"]["tid"])))
    return fault(wrong, "pieces of the journal are from a thread that does not commit", "command", "sector")


def _waits(made: Ledger, pieces: pl.DataFrame) -> list[str]:
    """Check that each wait for a commit in the window is for a recorded one and outlasts its last block.

    How long after that block a wait ends depends on the scheduler.
    """
    begin, end = made.given.window
    waits = made.few["commit_wait"]
    waits = taken(waits, (waits["begin_ns"] >= begin) & (waits["end_ns"] <= end))
    recorded = np.isin(waits["a"], made.few["commit"]["a"])
    command = ints(pieces["command"])
    done = pl.DataFrame(
        {"commit": _commit(made).take(command), "done_ns": ints(made.ledger["complete_ns"]).take(command)}
    )
    table = (
        pl.DataFrame({"commit": ints(waits["a"]), "end_ns": ints(waits["end_ns"])})
        .filter(pl.Series(recorded))
        .join(done.group_by("commit").max(), on="commit", how="left")
    )
    early = table.filter(pl.col("end_ns") < pl.col("done_ns"))
    unknown = waits["a"][~recorded]
    return [
        *([f"commit {unknown[0]} was waited for and has no record"] if unknown.size else []),
        *fault(early, "waits for a commit end before it is written", "commit", "end_ns"),
    ]


LEDGER_CHECKS = (consistent,)
