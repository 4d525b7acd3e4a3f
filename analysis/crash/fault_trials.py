"""Trials with one faulty device command: the planned fault, and whether data was healed, noticed or lost."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.adapters.trials import Board
from analysis.crash import context
from analysis.ledger.build import Ledger
from analysis.recorded import Recorded
from model.crash_points import faults
from model.crash_points.faults import Fault

# All that the settings promise is there: without an error of the run, and with one.
HEALED, NOTICED = "healed", "noticed"
# It is not there: with an error of the run or of the reopened database, and without any.
DAMAGED, SILENT = "damaged", "lost in silence"


def planned(run: Recorded) -> list[Fault]:
    """Return the planned trials of a run, from its log; none without one."""
    log = run.timed_log
    return [] if log is None else faults.plan(run.cell, log.entries, run.timing)


def points(run: Recorded, ledger: Ledger | None) -> pl.DataFrame:
    """Return each fault, its command, and what was in progress in the run that had none."""
    trials = planned(run)
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
    """Return what came of a fault. broken: something acknowledged is not as the settings promise it.

    A trial that ended its board has no results, and broke the promise.
    """
    failed = row["failed"] not in (None, 0) or row["exit_status"] not in (None, 0)
    if not broken:
        return NOTICED if failed else HEALED
    reopened = row["mount_error"] != 0 or row["is_whole"] != 1
    return DAMAGED if failed or reopened else SILENT


def describe(row: Mapping[str, Any]) -> str:
    """Return in words a fault and the command that had it."""
    return f"{row['fault']}, {context.activity(row)}"


def summary(judged: pl.DataFrame, broken: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return fault → its command, what came of it, the database, and the first error of the run."""
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


def fired(run: Recorded) -> list[str]:
    """Return messages on faults that did not fire, or fired at another command than the run's."""
    reasons = []
    at = {trial.number: trial for trial in planned(run)}
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
