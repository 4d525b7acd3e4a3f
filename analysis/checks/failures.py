"""Did the filesystem, the device or a file of the engine's refuse anything?

A run goes on after a sync that failed, if nobody tells the engine, or it is never asked again.
"""

from __future__ import annotations

import polars as pl

from analysis.checks import counts
from analysis.run import Run


def failed_syncs(run: Run) -> pl.DataFrame:
    """Return the syncs of the window's device that returned an error, as events: all that were seen, as what
    failed before the window is not on the device in it."""
    ours = pl.col("dev").is_in(run.devices) if run.devices else pl.lit(True)
    is_sync = (pl.col("source") == "probe") & (pl.col("event") == "sync")
    return run.events.filter(is_sync & ours & (pl.col("result") != 0))


def failed_calls(run: Run) -> pl.DataFrame | None:
    """Return the engine's calls that returned an error; None where calls are not logged."""
    if run.driver.vfs is None:
        return None
    return run.driver.vfs.filter(pl.col("result") != 0)


def count(run: Run) -> dict[str, int | None]:
    """Return how many syncs, calls of the engine and block commands failed; None: nobody looked."""
    watched = "all" in run.probes or "filesystem" in run.probes
    calls = failed_calls(run)
    return {
        "syncs": failed_syncs(run).height if watched else None,
        "calls": None if calls is None else calls.height,
        "commands": max(failed, default=0) if (failed := counts.failed(run).values()) else None,
    }


def none(run: Run) -> list[str]:
    """No sync and no call failed; counts.agree says it of the block commands."""
    syncs, calls = failed_syncs(run), failed_calls(run)
    found = []
    if not syncs.is_empty():
        first = syncs.row(0, named=True)
        what = f"first {first['file'] or 'inode ' + str(first['inode'])}, {first['result']}"
        found.append(f"{syncs.height} syncs ended with an error: {what}")
    if calls is not None and not calls.is_empty():
        first = calls.row(0, named=True)
        what = f"first call {first['call']}, {first['op']} of {first['file']}, {first['result']}"
        found.append(f"{calls.height} calls of {run.driver.engine.TITLE} ended with an error: {what}")
    return found
