"""Place a trial's power cut on the timeline of its run, with the lost transactions and commands."""

from pathlib import Path
from typing import Any

import polars as pl

from analysis.adapters import trials
from analysis.crash import verdicts
from analysis.figures import style
from analysis.inspect.load import Loaded
from base.errors import BadInputError


def place(run: Path, trial: str) -> Path:
    """Return the path of a trial's page, next to its run's page."""
    return run / f"inspect-trial-{int(trial)}.html"


def of(run: Loaded, trial: str) -> dict[str, Any]:
    """Return the cut for the page: its time, the transactions that are lost, the commands that were kept and
    that were not, and the verdict in words. Raises BadInputError for a trial that does not exist, or
    that has no known place in the watched run."""
    folder = run.run.folder
    if run.run.summary.get("crash") is None:
        raise BadInputError(f"RUN={folder}: {trials.NO_TRIALS}")
    table = run.run.table("trials", ("trial", "watched_ns", "commands_gone"))
    count = table.height + (run.run.summary["crash"].get("unplaced") or 0)
    rows = table.filter(pl.col("trial") == trials.parse_number(trial, count)).rows(named=True)
    if not rows:
        raise BadInputError(f"TRIAL={trial}: {trials.UNPLACED}")
    row = rows[0]
    if row["policy"] is None:
        raise BadInputError(
            f"TRIAL={trial}: a process was killed, and no command of the device was cut; a trial of "
            "CRASH=power has a place in the timeline"
        )
    if row["watched_ns"] is None:
        raise BadInputError(
            f"TRIAL={trial}: command {row['command']} is not in the timeline: from some command before it on "
            "the watched run's device got others than the board that was cut"
        )
    first, acknowledged = row["first_lost"], row["acknowledged"]
    return {
        "time": row["watched_ns"] - run.origin,
        "verdict": style.clean(verdicts.describe(row)),
        "lost": [] if first is None else list(range(first, acknowledged)),
        "under_way": row["under_way"],
        "kept": _numbers(row["commands_kept"]),
        "gone": _numbers(row["commands_gone"]),
    }


def _numbers(ranges: str | None) -> list[int]:
    """Return the numbers of `3 5-7` (crash/context.py)."""
    parts = (one.split("-") for one in (ranges or "").split())
    return [number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)]
