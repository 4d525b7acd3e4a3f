"""Join planned process kills or device faults with boards' results, and describe them; classify faults.

The outcome of a fault is healed, noticed, damaged or lost in silence; that each fault fired is checked. The
verdict on each recovered database, after a kill or a fault, is in verdicts.py.
"""

from collections.abc import Mapping, Set
from typing import Any

import polars as pl

from analysis.adapters.trials import Board
from analysis.crash import context
from analysis.ledger.build import Ledger
from analysis.recorded import Recorded
from base.errors import FileError
from model.crash_points import faults
from model.crash_points.faults import Fault
from model.crash_points.kill_points import ACKNOWLEDGED, BEGUN, DURING, Kill, plan
from model.crash_points.policies import FAULT, FOLDER

# Outcomes of a fault where all that the settings promise is there: without an error of the run, and with one.
HEALED, NOTICED = "healed", "noticed"
# Outcomes where it is not: with an error of the run or of the reopened database, and without any.
DAMAGED, SILENT = "damaged", "lost in silence"


def planned_faults(run: Recorded) -> list[Fault]:
    """Return the planned trials of a run, from its log; none without one."""
    log = run.timed_log
    return [] if log is None else faults.plan(run.cell, log.entries, run.timing)


def _fault_points(run: Recorded, ledger: Ledger | None) -> pl.DataFrame:
    """Return each fault, its command, and the activity at that command in the run without faults."""
    trials = planned_faults(run)
    if not trials or run.timed_log is None:
        return pl.DataFrame(schema={"trial": pl.Int64, "fault": pl.String, "command": pl.Int64})
    rows = {
        "trial": [trial.number for trial in trials],
        "fault": [trial.fault for trial in trials],
        "command": [trial.command for trial in trials],
    }
    own = Board("", run.timing, run.timed_log, pl.DataFrame())
    progress = context.table(own, [trial.crash_point() for trial in trials], (run, ledger))
    return pl.DataFrame(rows).join(progress.drop("commands_kept", "commands_gone"), on="trial")


def outcome(row: Mapping[str, Any], broken: bool) -> str:
    """Return the outcome of a fault. broken: something acknowledged is not as the settings promise it.

    A trial that ended its board has no results: it is damaged even where the settings promise nothing.
    """
    if row["exit_status"] is None:
        return DAMAGED
    failed = row["failed"] != 0 or row["exit_status"] != 0
    if not broken:
        return NOTICED if failed else HEALED
    reopened = row["mount_error"] != 0 or row["is_whole"] != 1
    return DAMAGED if failed or reopened else SILENT


def summarize_faults(judged: pl.DataFrame, broken: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return fault → its command, its outcome, the verdict on the database, and the run's first error."""
    against = set(broken["trial"])
    return {
        row["fault"]: {
            "command": context.activity(row),
            "outcome": outcome(row, row["trial"] in against),
            "verdict": row["verdict"],
            "error": row["answer"] or row["said"] or "",
        }
        for row in judged.iter_rows(named=True)
    }


def faults_fired(run: Recorded) -> list[str]:
    """Return messages on faults that did not fire, or fired at another command than the run's."""
    reasons = []
    at = {trial.number: trial for trial in planned_faults(run)}
    for row in run.kills.iter_rows(named=True) if run.kills is not None else ():
        if (trial := at.get(row["trial"])) is None:
            continue
        if row["fired"] != 1:
            reasons.append(f"{trial.fault} did not fire: its board sent {row['seen']} such commands")
        elif row["sector"] != trial.sector:
            reasons.append(
                f"{trial.fault} fired at sector {row['sector']}, and the run's command is at sector "
                f"{trial.sector}: its board did not repeat the run"
            )
    return reasons


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
    return planned_faults(run) if run.cell.crash == FAULT else plan(run.cell, run.timing)


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
    points = _fault_points(run, ledger) if run.cell.crash == FAULT else _points(run)
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
        return f"{row['fault']}, {context.activity(row)}"
    if row["where"] == BEGUN:
        return "killed before the first transaction"
    if row["where"] == ACKNOWLEDGED:
        return f"killed as transaction {row['acknowledged']} was acknowledged"
    within = f"{row['kept_bytes']} bytes into" if row["where"] == DURING else "after"
    return f"killed {within} call {row['call']}, {row['engine_call']}"
