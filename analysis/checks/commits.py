"""Check that each journal commit within a sync has a reason: a waiting thread, a timer, or a full journal."""

import re

import numpy as np
import polars as pl

from analysis.adapters.layouts import JOURNAL
from analysis.checks.file_calls import first
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import driver_tids
from analysis.run import Run
from base.arrays import Intervals, inside, ints, union
from model import filesystems

# The kernel rounds commit times to jiffies of 4 ms.
_ROUNDED = 0.99
# A transaction that fills a fourth of the journal is committed at once. An eighth leaves a margin.
_FULL = 1 / 8


def asked_for(made: Ledger, options: tuple[str, ...]) -> list[str]:
    """Return messages on commits that began in a sync of the driver without a reason.

    A reason is a thread that waits for the commit, its timer, or an eighth of the journal.

    options: of /proc/mounts.
    """
    filesystem, few = filesystems.by_name(made.given.layout.filesystem), made.few
    if not filesystem.commits:
        return []
    intervals = [
        int(option.removeprefix("commit=")) for option in options if re.fullmatch("commit=[0-9]{1,9}", option)
    ]
    interval = next((seconds for seconds in intervals if seconds), filesystem.commit_seconds) * 1_000_000_000
    drains = made.given.phases.filter(pl.col("phase") == "drain")["begin_ns"]
    synced = few["sync"][np.isin(few["sync"]["tid"], driver_tids(few))]
    begins = ints(made.commits["begin_ns"])
    within = inside(begins, *union([Intervals(ints(synced["begin_ns"]), ints(synced["end_ns"]))])) >= 0
    alone = within & ~np.isin(ints(made.commits["commit"]), few["commit_wait"]["a"])
    alone &= (begins >= made.given.window[0]) & (begins < min(drains, default=made.given.window[1]))
    early = np.diff(begins, prepend=begins[:1] - 2 * interval) < interval * _ROUNDED
    layout = made.given.layout
    size = np.diff(layout.starts, append=layout.starts[-1:])[layout.labels == JOURNAL].sum() // 8
    wrong = made.commits.filter(pl.Series(alone & early) & (pl.col("blocks") < int(size) * _FULL))
    return first(wrong, "commits that began in a sync that did not wait for them", "commit", "begin_ns")


def waited_for(run: Run) -> list[str]:
    """Check that the journal commits of a run have a reason, given its mount options."""
    options = run.board.mount.options if run.board.mount else ()
    return [f"ledger: {text}" for text in asked_for(run.ledger, options)] if run.ledger else []
