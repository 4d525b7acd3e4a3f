"""Did the engine do what its settings say?"""

from __future__ import annotations

import polars as pl

from analysis.checks.calls import first
from analysis.run import Run


def synced(run: Run) -> list[str]:
    """Each sync of a file succeeded: what was committed behind one that failed may be lost."""
    failed = run.ledger.syncs.filter(pl.col("result") != 0) if run.ledger else pl.DataFrame()
    return first(failed, "syncs failed", "begin_ns", "inode", "result")


def as_set(run: Run) -> list[str]:
    """The engine's calls of its files are those of the settings that were in effect."""
    made = run.ledger
    if made is None or not made.given.calls:
        return []
    return run.driver.engine.contradicted(run.driver.config["effective"], made.vfs)
