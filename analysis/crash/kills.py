"""Join the planned process kills or device faults of a run with what their boards found afterwards."""

from collections.abc import Mapping, Set
from typing import Any

import polars as pl

from analysis.crash import context, fault_trials
from analysis.ledger.build import Ledger
from analysis.recorded import Recorded
from base.errors import FileError
from model.crash_points.faults import Fault
from model.crash_points.kill_points import ACKNOWLEDGED, BEGUN, DURING, Kill, plan
from model.crash_points.policies import FAULT, FOLDER

# Columns of a crash point.
POINTS: dict[str, type[pl.DataType]] = {
    "trial": pl.Int64,
    "where": pl.String,
    "cut_ns": pl.Int64,
    "call": pl.Int64,
    "kept_bytes": pl.Int64,
    "engine_call": pl.String,
}


def planned(run: Recorded) -> list[Kill] | list[Fault]:
    """Return the planned trials of a run, from its own log."""
    return fault_trials.planned(run) if run.cell.crash == FAULT else plan(run.cell, run.timing)


def _points(run: Recorded) -> pl.DataFrame:
    """Return the kills that are planned."""
    calls = context.call_names(run.timing.vfs)
    return pl.DataFrame(
        [
            (kill.number, kill.where, kill.moment, kill.call, kill.kept, calls.get(kill.call))
            for kill in plan(run.cell, run.timing)
        ],
        schema=POINTS,
        orient="row",
    )


def rows(run: Recorded, died: Set[int], ledger: Ledger | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the trials with their boards' results, and the trials that ended their board.

    Raises FileError.
    """
    points = fault_trials.points(run, ledger) if run.cell.crash == FAULT else _points(run)
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
    """Return in words where a trial's process was killed, or which fault its device had."""
    if row.get("fault") is not None:
        return fault_trials.describe(row)
    if row["where"] == BEGUN:
        return "killed before the first transaction"
    if row["where"] == ACKNOWLEDGED:
        return f"killed as transaction {row['acknowledged']} was acknowledged"
    within = f"{row['kept_bytes']} bytes into" if row["where"] == DURING else "after"
    return f"killed {within} call {row['call']}, {row['engine_call']}"
