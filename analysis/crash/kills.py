"""Trials that kill only the driver process, at the crash points of crash_points/kill_points.py."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import polars as pl

from analysis.crash import context
from analysis.recorded import Recorded
from base.errors import FileError
from model.crash_points.kill_points import ACKNOWLEDGED, BEGUN, DURING, Kill, plan
from model.crash_points.policies import FOLDER

# Columns of a crash point.
POINTS: dict[str, type[pl.DataType]] = {
    "trial": pl.Int64,
    "where": pl.String,
    "cut_ns": pl.Int64,
    "call": pl.Int64,
    "kept_bytes": pl.Int64,
    "engine_call": pl.String,
}


def planned(run: Recorded) -> list[Kill]:
    """Return the planned trials of a run, from its own log."""
    return plan(run.cell, run.timing)


def rows(run: Recorded, died: Set[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the kills with their boards' results, and the kills that ended their board.

    Raises FileError.
    """
    calls = context.call_names(run.timing.vfs)
    points = pl.DataFrame(
        [
            (kill.number, kill.where, kill.moment, kill.call, kill.kept, calls.get(kill.call))
            for kill in planned(run)
        ],
        schema=POINTS,
        orient="row",
    )
    assert run.kills is not None
    most = run.timing.transactions.height
    for trial, acknowledged, begun in run.kills.select("trial", "acknowledged", "begun").rows():
        if not 0 <= acknowledged <= begun <= most:
            raise FileError(
                *(run.folder / FOLDER, f"trial {trial}"),
                f"{acknowledged} transactions were acknowledged, and {begun} had begun",
                f"acknowledged <= begun <= {most}",
            )
    return points.join(run.kills, on="trial"), points.filter(pl.col("trial").is_in(list(died)))


def describe(row: Mapping[str, Any]) -> str:
    """Return in words where a trial's process was killed."""
    if row["where"] == BEGUN:
        return "killed before the first transaction"
    if row["where"] == ACKNOWLEDGED:
        return f"killed as transaction {row['acknowledged']} was acknowledged"
    within = f"{row['kept_bytes']} bytes into" if row["where"] == DURING else "after"
    return f"killed {within} call {row['call']}, {row['engine_call']}"
