"""What a partition's disk did beside it: flushes, which are counted for the disk alone.

Who else uses the disk is not idle when the window begins or ends, so numbers of the disk are not equal
where two count: the kernel's counter, read before the driver began and after it ended, each between two
readings of the clock, is no less than what the probes saw complete surely within, and no more than what
they saw that may have been.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from analysis.adapters import partition
from analysis.checks import counts
from analysis.instrument import probe_selftest
from analysis.run import Run
from model.requested import mkfs

# Two who note the same command do so at the same tracepoint (witness.py, _BESIDE).
APART_NS = 100_000


def flushes(run: Run) -> list[str]:
    """The disk's counter and each other observer have as many flushes as the probes saw, but for those at
    the edges."""
    if run.partition is None or not run.probes:
        return []
    seen = run.events.filter(
        (pl.col("source") == "probe") & (pl.col("event") == "block") & (pl.col("rwbs").str.starts_with("FF"))
    )
    found = []
    begin, end = run.driver.window
    for name, witness in run.witnesses.items():
        told = witness.commands["flush"]
        least = _within(seen, "begin_ns", begin + APART_NS, end - APART_NS)
        most = _within(seen, "begin_ns", begin - APART_NS, end + APART_NS)
        if not least <= told <= most:
            found.append(f"flushes of the disk in the window: {name} {told}, probe {least} to {most}")
    ends = seen["end_ns"].drop_nulls().to_numpy()
    counted = partition.bracket(run.board.covariates, ends)
    if counted is None:
        return [*found, "raw/board/covariates.json: not told how many flushes the disk counted, and when"]
    grew, least, most = counted
    if not least <= grew <= most:
        found.append(
            f"flushes of the disk while the driver ran: {counts.STAT} {grew}, probe {least} to {most}"
        )
    return found


def rehearsed(run: Run) -> list[str]:
    """What the probes recorded of a known sequence on a watched partition is what it was, and whether the
    kernel counts its empty flushes as writes was seen."""
    if run.partition is None or not run.probes:
        return []
    if run.known is None or run.plan is None:
        return ["raw/known: nothing says what the probes record of a known sequence on this partition"]
    kind = run.board.mount.fs if run.board.mount else ""
    found = probe_selftest.wrong(
        *(run.known, run.plan["runs"]["run"]["probes"], kind),
        journals_data=run.board.data_mode == "journal",
        journalled=mkfs.journalled(run.cell),
    )
    if run.known.counts_empty is None:
        number = run.known.stat["write_ios"]
        found.append(f"{counts.STAT} counted {number} writes, neither with the empty flushes nor without")
    return [f"of a known sequence on this partition, {line}" for line in found]


def sent_for(run: Run) -> dict[str, pl.DataFrame] | None:
    """Return the flush commands of the window (rows of the ledger) that were sent for the partition alone
    (`own`), for others of the disk alone (`others`), and for both (`shared`); None of a whole device, or
    without a ledger."""
    if run.partition is None or run.ledger is None:
        return None
    flushes = run.ledger.ledger.filter(pl.col("kind") == "flush")
    theirs = pl.col("no_transaction") == "another partition"
    parts = run.ledger.shares.filter(theirs)["command"].unique().implode()
    shared = pl.col("command").is_in(parts)
    return {
        "own": flushes.filter(~theirs.fill_null(value=False) & ~shared),
        "shared": flushes.filter(shared),
        "others": flushes.filter(theirs),
    }


def summary(run: Run) -> dict[str, Any] | None:
    """Return what the disk did beside the partition under test, for the summary; None of a whole device.

    foreign_bytes_written: by others, while the driver ran; None if it was not read.
    """
    if run.partition is None:
        return None
    sectors = run.board.covariates.foreign(("write_sectors",)) if run.board.covariates else None
    sent = sent_for(run) or {}
    return {
        "foreign_bytes_written": None if sectors is None else sectors * 512,
        "flushes": {name: rows.height for name, rows in sent.items()},
    }


def _within(seen: pl.DataFrame, column: str, begin: int, end: int) -> int:
    return seen.filter(pl.col(column).is_between(begin, end)).height
