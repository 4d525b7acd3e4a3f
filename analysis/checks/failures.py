"""Reject a run with a failed sync or file call of the engine; count failed block commands.

A run continues after a failed sync if the engine does not learn of it or does not sync again.
"""

import polars as pl

from analysis.checks import counts
from analysis.run import Run


def failed_syncs(run: Run) -> pl.DataFrame:
    """Return the sync events of the device that returned an error.

    Includes syncs before the window: what they failed to write is not on the device in the window either.
    """
    ours = pl.col("dev").is_in(run.devices) if run.devices else pl.lit(True)
    is_sync = (pl.col("source") == "probe") & (pl.col("event") == "sync")
    return run.events.filter(is_sync & ours & (pl.col("result") != 0))


def failed_calls(run: Run) -> pl.DataFrame | None:
    """Return the engine's file calls that returned an error; None where calls are not logged."""
    if run.driver.vfs is None:
        return None
    return run.driver.vfs.filter(pl.col("result") != 0)


def count(run: Run) -> dict[str, int | None]:
    """Return the number of failed syncs, engine calls and block commands; None if not recorded."""
    watched = "all" in run.probes or "filesystem" in run.probes
    calls = failed_calls(run)
    return {
        "syncs": failed_syncs(run).height if watched else None,
        "calls": None if calls is None else calls.height,
        "commands": max(failed, default=0) if (failed := counts.failed(run).values()) else None,
    }


def reported(run: Run) -> list[str]:
    """Reject failed syncs and engine calls. Failed block commands are reported by counts.agree."""
    syncs, calls = failed_syncs(run), failed_calls(run)
    reasons = []
    if not syncs.is_empty():
        first = syncs.row(0, named=True)
        text = f"first {first['file'] or 'inode ' + str(first['inode'])}, error {first['result']}"
        reasons.append(f"{syncs.height} syncs failed: {text}")
    if calls is not None and not calls.is_empty():
        first = calls.row(0, named=True)
        text = f"first call {first['call']}, {first['op']} of {first['file']}, error {first['result']}"
        reasons.append(f"{calls.height} calls of {run.driver.engine.TITLE} failed: {text}")
    return reasons
