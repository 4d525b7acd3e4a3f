"""Describe the activity at each crash point: transaction, file call, sync and block command in progress.

A trial board is not watched. Its device log gives the type of the command, its driver the transaction in
progress. The watched run gives what the engine and the filesystem were doing, as far as its device got the
same commands in the same order: the crash point is then at the command of the same number.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters import device_logs
from analysis.adapters.driver import Driver
from analysis.adapters.trials import Board
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import edges
from analysis.recorded import Recorded
from base.arrays import Ints, inside
from model.crash_points import cuts, pmem_lines
from model.crash_points.cuts import Trial
from model.crash_points.durable import Cache, Commands

# Columns known for each trial.
BOARD: dict[str, type[pl.DataType]] = {
    "operation": pl.String,  # of the command, by the device: one of events.BLOCK_KINDS
    "phase": pl.String,
    "under_way": pl.Int64,  # the transaction in progress; null: none
    "op": pl.String,
}
# Columns from the ledger, or null.
LEDGER: dict[str, type[pl.DataType]] = {
    "watched_ns": pl.Int64,  # time of the crash point in the watched run
    "ledger_command": pl.Int64,  # the command's number in the ledger
    "kind": pl.String,  # its kind in the ledger
    "engine_call": pl.String,  # call in progress: operation and file; NOTHING
    "filesystem_work": pl.String,  # in progress: a commit or a checkpoint, with its number; NOTHING
    # commands that might be lost, by their numbers in the ledger
    "commands_kept": pl.String,
    "commands_gone": pl.String,
}
NOTHING = "nothing"


# the watched run that a trial board repeats, and its ledger
Watched = tuple[Recorded, Ledger | None]


def table(board: Board, trials: list[Trial], watched: Watched | None) -> pl.DataFrame:
    """Return a row for each trial: its number, and the columns of BOARD and LEDGER.

    Without a watched run, the ledger's columns are null, except the call that defines a crash point.
    """
    kinds = device_logs.commands(board.log.entries)["kind"]
    columns = {
        "trial": [trial.number for trial in trials],
        "operation": [kinds[trial.command] if trial.call is None else None for trial in trials],
        **_of_driver(board.driver, np.array([trial.moment for trial in trials], np.int64)),
    }
    by_board = pl.DataFrame(columns, schema={"trial": pl.Int64, **BOARD})
    rows = _watched(watched, board, trials) if watched else []
    by_ledger = pl.DataFrame(rows, schema={"trial": pl.Int64, **LEDGER})
    names = call_names(board.driver.vfs) if any(trial.call is not None for trial in trials) else {}
    calls = pl.Series([names.get(trial.call) for trial in trials], dtype=pl.String)
    joined = by_board.with_columns(called=calls).join(by_ledger, on="trial", how="left")
    return joined.with_columns(engine_call=pl.coalesce("called", "engine_call")).drop("called")


def call_names(vfs: pl.DataFrame | None) -> dict[int | None, str]:
    """Return operation and file of each call, by its number; {} without a log of calls."""
    rows = [] if vfs is None else vfs.select("call", "op", "file").rows()
    return {call: f"{op} {file}" for call, op, file in rows}


def crash_point(row: Mapping[str, Any]) -> str:
    """Describe in a line a trial's crash point, and what the device and memory kept."""
    at = "command" if row.get("call") is None else "call"
    kept = f"{row['where']} {at} {row[at]} ({activity(row)}), {row['policy']} of {row['losable']} kept"
    if row.get("line_policy") is None:
        return kept
    if row["line_policy"] in (pmem_lines.GONE, pmem_lines.THERE):
        return f"{kept}, and the file in persistent memory {row['line_policy']}"
    return f"{kept}, and {row['line_policy']} of {row['losable_lines']} lines"


def activity(row: Mapping[str, Any]) -> str:
    """Describe in a line what was in progress at a trial's crash point."""
    what = [] if row["operation"] is None else [row["operation"]]
    if row["kind"] not in (None, row["operation"]):
        what = [f"{row['operation']} of {row['kind']}"]
    if row["phase"] is not None:
        what.append(row["phase"] if row["under_way"] is None else f"{row['op']} {row['under_way']}")
    for name, who in (("engine_call", "engine"), ("filesystem_work", "filesystem")):
        what += [f"{who}: {row[name]}"] if row[name] is not None else []
    return ", ".join(what)


def _of_driver(ran: Driver, moments: Ints) -> dict[str, list[Any]]:
    """Return the driver's phase, transaction and op at each time."""
    rows, phases = (inside(moments, *edges(table)).tolist() for table in (ran.transactions, ran.phases))
    ops, names = ran.transactions["op"], ran.phases["phase"]
    return {
        "phase": [names[row] if row >= 0 else None for row in phases],
        "under_way": [row if row >= 0 else None for row in rows],
        "op": [ops[row] if row >= 0 else None for row in rows],
    }


def _watched(watched: Watched, board: Board, trials: list[Trial]) -> list[dict[str, Any]]:
    """Return the columns of LEDGER for each trial with a command that the watched run's device also got."""
    run, made = watched
    log = run.log
    if made is None or log is None:
        return []
    own, other = log.within(*run.driver.window), board.log.within(*board.driver.window)
    numbers = device_logs.ledger_numbers(made.ledger, device_logs.commands(own))
    if numbers is None:  # the run is rejected
        return []
    first = int(np.searchsorted(board.log.entries["begin_ns"].astype(np.int64), board.driver.window[0]))
    numbers = numbers[: device_logs.common_prefix(own, other)]
    commands = Commands(board.log.entries, Cache.from_profile(run.cell.profiles["device"]))
    rows = []
    for trial in trials:
        of_call = trial.call is not None
        place = trial.arrived - first - 1 if of_call else trial.command - first
        if not (-of_call <= place < numbers.size) or (timed := _timed(run, own, trial, place)) is None:
            continue
        at = cuts.time_of(*timed, trial.where)
        command = None if of_call else int(numbers[place])
        rows.append(
            {
                "trial": trial.number,
                "watched_ns": at,
                "ledger_command": command,
                "kind": None if command is None else made.ledger["kind"][command],
                **_under_way(made, at),
                **_at_stake(trial, commands.losable(trial.moment) - first, numbers, first),
            }
        )
    return rows


def _timed(run: Recorded, own: np.ndarray, trial: Trial, place: int) -> tuple[int, int] | None:
    """Return begin and end, in the watched run, of the command or call that defines a trial's crash point.

    None if the run has no such call, or had got another number of commands by then.
    """
    if trial.call is None:
        return int(own[place]["begin_ns"]), int(own[place]["end_ns"])
    calls = run.driver.vfs
    rows = [] if calls is None else calls.filter(pl.col("call") == trial.call).rows(named=True)
    if not rows:
        return None
    times = rows[0]["begin_ns"], rows[0]["end_ns"]
    came = int(np.searchsorted(own["begin_ns"].astype(np.int64), cuts.time_of(*times, trial.where), "right"))
    return times if came == place + 1 else None


def _under_way(made: Ledger, moment: int) -> dict[str, str | None]:
    """Return the engine's call and the filesystem's commit or checkpoint in progress at a time."""
    call, commit, checkpoint = (_row(table, moment) for table in (made.vfs, made.commits, made.checkpoints))
    calls = f"{call['op']} {call['file']}" if call else NOTHING
    work = f"commit {commit['commit']}" if commit else NOTHING
    work = f"checkpoint {checkpoint['checkpoint']}" if checkpoint else work
    return {"engine_call": calls if made.given.calls else None, "filesystem_work": work}


def _row(table: pl.DataFrame, moment: int) -> Mapping[str, Any] | None:
    """Return the row with the interval that contains a time; intervals do not overlap."""
    row = int(inside(np.array([moment]), *edges(table))[0])
    return None if row < 0 else table.row(row, named=True)


def _at_stake(trial: Trial, places: Ints, numbers: Ints, first: int) -> dict[str, str | None]:
    """Return which of the commands at `places` of the window were kept and which were lost, by `numbers`.

    None where one of them has no number.
    """
    if places.size and (places[0] < 0 or places[-1] >= numbers.size):
        return {"commands_kept": None, "commands_gone": None}
    gone = {number - first for number in trial.lost}
    return {
        "commands_kept": ranges([int(numbers[place]) for place in places.tolist() if place not in gone]),
        "commands_gone": ranges([int(numbers[place]) for place in sorted(gone)]),
    }


def ranges(numbers: list[int]) -> str:
    """Return numbers as ranges: `3 5-7`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(f"{begin}" if begin == end else f"{begin}-{end}" for begin, end in parts)
