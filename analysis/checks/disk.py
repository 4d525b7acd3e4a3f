"""Check flushes and the probe self-test of a run on one partition of a disk; sum up other partitions' I/O.

The kernel counts flushes for the disk only. Other users of the disk are not idle at the window's edges, so
counts need not be equal. The kernel's counter is read before the driver begins and after it ends, each time
between two clock readings. It must be at least what the probes saw complete surely in between, and at most
what they saw possibly in between.
"""

from typing import Any

import polars as pl

from analysis.adapters import partition
from analysis.checks import counts
from analysis.instrument import probe_selftest
from analysis.run import Run
from model.requested import mkfs

# Two observers record a command at the same tracepoint (cross_check.py, _OBSERVER).
APART_NS = 100_000


def flushes(run: Run) -> list[str]:
    """Compare the flushes of the disk's counter and of each observer with those the probes saw."""
    if run.partition is None or not run.probes:
        return []
    seen = run.events.filter(
        (pl.col("source") == "probe") & (pl.col("event") == "block") & (pl.col("rwbs").str.starts_with("FF"))
    )
    reasons = []
    begin, end = run.driver.window
    for name, witness in run.witnesses.items():
        count = witness.commands["flush"]
        least = _within(seen, "begin_ns", begin + APART_NS, end - APART_NS)
        most = _within(seen, "begin_ns", begin - APART_NS, end + APART_NS)
        if not least <= count <= most:
            reasons.append(f"flushes of the disk in the window: {name} {count}, probe {least} to {most}")
    ends = seen["end_ns"].drop_nulls().to_numpy()
    counted = partition.flush_bounds(run.board.covariates, ends)
    if counted is None:
        return [
            *reasons,
            "raw/board/covariates.json: the disk's flush counter or the time of its readings is missing",
        ]
    grew, least, most = counted
    if not least <= grew <= most:
        reasons.append(
            f"flushes of the disk while the driver ran: {counts.STAT} {grew}, probe {least} to {most}"
        )
    return reasons


def rehearsed(run: Run) -> list[str]:
    """Check the probes' record of a known I/O sequence, and that it shows how stat counts empty flushes."""
    if run.partition is None or not run.probes:
        return []
    if run.known is None or run.plan is None:
        return ["raw/known: the probe self-test on this partition is missing"]
    kind = run.board.mount.fs if run.board.mount else ""
    reasons = probe_selftest.wrong(
        *(run.known, run.plan["runs"]["run"]["probes"], kind),
        journals_data=run.board.data_mode == "journal",
        journalled=mkfs.journalled(run.cell),
    )
    if run.known.counts_empty is None:
        number = run.known.stat["write_ios"]
        reasons.append(f"{counts.STAT} counted {number} writes, neither with the empty flushes nor without")
    return [f"probe self-test on this partition: {line}" for line in reasons]


def sent_for(run: Run) -> dict[str, pl.DataFrame] | None:
    """Return the window's flush commands (rows of the ledger) by the partition that needed them.

    `own`: only the partition under test; `others`: only other partitions; `shared`: both. None for a whole
    device or without a ledger.
    """
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
    """Return the disk's other activity for the summary; None for a whole device.

    foreign_bytes_written: bytes that others wrote while the driver ran; None if it could not be read.
    """
    if run.partition is None:
        return None
    sectors = run.board.covariates.foreign_growth(("write_sectors",)) if run.board.covariates else None
    sent = sent_for(run) or {}
    return {
        "foreign_bytes_written": None if sectors is None else sectors * 512,
        "flushes": {name: rows.height for name, rows in sent.items()},
    }


def _within(seen: pl.DataFrame, column: str, begin: int, end: int) -> int:
    return seen.filter(pl.col(column).is_between(begin, end)).height
