"""What was going on when the power was cut: on the board that had the trial, and by the ledger.

A board of trials is not watched. Its log says what kind of command a cut is told by, and its driver which
transaction was under way. What the engine and the filesystem were doing is known of a watched run, as far as
its device got the commands of that board in the same order: the cut is then the same moment of the command of
the same number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from analysis.adapters import devicelog
from analysis.adapters.driver import Driver
from analysis.crash import cuts
from analysis.crash.cuts import Trial
from analysis.crash.durable import Cache, Commands
from analysis.crash.trials import Board
from analysis.ledger import logged
from analysis.ledger.arrays import Ints, inside
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import edges

if TYPE_CHECKING:
    from analysis.run import Run

# Known of each trial.
BOARD: dict[str, type[pl.DataType]] = {
    "operation": pl.String,  # of the command, as its device has it: one of events.BLOCK_KINDS
    "phase": pl.String,
    "under_way": pl.Int64,  # the transaction; null: none
    "op": pl.String,
}
# Known by the ledger, or null.
LEDGER: dict[str, type[pl.DataType]] = {
    "watched_ns": pl.Int64,  # the same moment of the watched run
    "ledger_command": pl.Int64,  # the command's number in the ledger
    "kind": pl.String,  # what it is, there
    "engine_call": pl.String,  # under way: what of which file; NOTHING
    "filesystem_work": pl.String,  # under way: a commit or a checkpoint, with its number; NOTHING
    # which commands might be lost, by their numbers in the ledger
    "commands_kept": pl.String,
    "commands_gone": pl.String,
}
NOTHING = "nothing"


def going_on(board: Board, trials: list[Trial], run: Run | None) -> pl.DataFrame:
    """Return a row for each trial: its number, and the columns of BOARD and LEDGER; those of the ledger are
    null where no run is given."""
    kinds = devicelog.commands(board.log.entries)["kind"]
    columns = {
        "trial": [trial.number for trial in trials],
        "operation": [kinds[trial.command] for trial in trials],
        **_of_driver(board.driver, np.array([trial.moment for trial in trials], np.int64)),
    }
    known = pl.DataFrame(columns, schema={"trial": pl.Int64, **BOARD})
    watched = pl.DataFrame(_watched(run, board, trials) if run else [], schema={"trial": pl.Int64, **LEDGER})
    return known.join(watched, on="trial", how="left")


def told(row: Mapping[str, Any]) -> str:
    """Say of one trial what is known of the moment, in a line."""
    what = [row["operation"]]
    if row["kind"] not in (None, row["operation"]):
        what = [f"{row['operation']} of {row['kind']}"]
    if row["phase"] is not None:
        what.append(row["phase"] if row["under_way"] is None else f"{row['op']} {row['under_way']}")
    for name, who in (("engine_call", "engine"), ("filesystem_work", "filesystem")):
        what += [f"{who}: {row[name]}"] if row[name] is not None else []
    return ", ".join(what)


def _of_driver(ran: Driver, moments: Ints) -> dict[str, list[Any]]:
    """Return what the driver was doing at each moment."""
    rows, phases = (inside(moments, *edges(table)).tolist() for table in (ran.transactions, ran.phases))
    ops, names = ran.transactions["op"], ran.phases["phase"]
    return {
        "phase": [names[row] if row >= 0 else None for row in phases],
        "under_way": [row if row >= 0 else None for row in rows],
        "op": [ops[row] if row >= 0 else None for row in rows],
    }


def _watched(run: Run, board: Board, trials: list[Trial]) -> list[dict[str, Any]]:
    """Return the columns of LEDGER of each trial whose command the watched run's device got, too."""
    made, log = run.ledger, run.log
    if made is None or log is None:
        return []
    own, other = log.within(*run.driver.window), board.log.within(*board.driver.window)
    numbers = logged.numbers(made.ledger, devicelog.commands(own))
    if numbers is None:  # the run is rejected
        return []
    first = int(np.searchsorted(board.log.entries["begin_ns"].astype(np.int64), board.driver.window[0]))
    numbers = numbers[: devicelog.alike(own, other)]
    commands = Commands(board.log.entries, Cache.of(run.cell["profiles"]["device"]))
    found = []
    for trial in trials:
        if not 0 <= (place := trial.command - first) < numbers.size:
            continue
        begin, end = (int(own[place][name]) for name in ("begin_ns", "end_ns"))
        moment = cuts.time_of(begin, end, trial.where)
        found.append(
            {
                "trial": trial.number,
                "watched_ns": moment,
                "ledger_command": (command := int(numbers[place])),
                "kind": made.ledger["kind"][command],
                **_under_way(made, moment),
                **_at_stake(trial, commands.losable(trial.moment) - first, numbers, first),
            }
        )
    return found


def _under_way(made: Ledger, moment: int) -> dict[str, str | None]:
    """Return what the engine and the filesystem were doing at a moment."""
    call, commit, checkpoint = (_row(table, moment) for table in (made.vfs, made.commits, made.checkpoints))
    calls = f"{call['op']} {call['file']}" if call else NOTHING
    work = f"commit {commit['commit']}" if commit else NOTHING
    work = f"checkpoint {checkpoint['checkpoint']}" if checkpoint else work
    return {"engine_call": calls if made.given.calls else None, "filesystem_work": work}


def _row(table: pl.DataFrame, moment: int) -> Mapping[str, Any] | None:
    """Return the row that a moment is within; they do not overlap."""
    row = int(inside(np.array([moment]), *edges(table))[0])
    return None if row < 0 else table.row(row, named=True)


def _at_stake(trial: Trial, places: Ints, numbers: Ints, first: int) -> dict[str, str | None]:
    """Return what was kept and what was not of the commands at some places of the window, by `numbers`; None
    where one of them has no number."""
    if places.size and (places[0] < 0 or places[-1] >= numbers.size):
        return {"commands_kept": None, "commands_gone": None}
    gone = {number - first for number in trial.lost}
    return {
        "commands_kept": ranges([int(numbers[place]) for place in places.tolist() if place not in gone]),
        "commands_gone": ranges([int(numbers[place]) for place in sorted(gone)]),
    }


def ranges(numbers: list[int]) -> str:
    """Return numbers as `3 5-7`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(f"{begin}" if begin == end else f"{begin}-{end}" for begin, end in parts)
