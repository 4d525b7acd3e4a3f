"""Do the boards of a run's trials agree with the run, with each other and with the host?"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters import trials
from analysis.adapters.trials import RECOVERY
from analysis.checks import loss, moments, twin
from analysis.crash import kills, placed
from analysis.run import Run
from model import engines
from model.crash_points import policies
from model.expected_state import oracle, sampled
from model.expected_state.hashes import Held
from model.requested.expected import TRIALS

# What the state that a device shows decides, and no clock.
_OUTCOME = (
    "mount_error",
    "opened",
    "is_read",
    "is_whole",
    "signal",
    "rows",
    "hash",
    "zero",
    "stale",
    *RECOVERY,
)
# what plans call `looks`, since there is one


def boards(run: Run) -> list[str]:
    """A board of trials is the run's, unwatched, did the steps of its plan, and its transactions were where
    they were among the commands of the device, and the calls to persistent memory."""
    found = []
    for name, board in run.trial_boards.items():
        who = f"board {name} of trials"
        place = run.folder / policies.FOLDER / name
        as_run = replace(run, folder=place, board=board, planned_as=TRIALS)
        found += [f"{who}: {problem}" for problem in loss.steps_succeeded(as_run)]
        if not twin.unwatched(board.run):
            found.append(f"{who} was watched, or does not say that it was not")
        if run.kills is None:
            found += twin.another_board(who, board, run.board)
    for one in run.trials if run.timed_log is not None else []:
        if wrong := moments.moved(placed.of(one), placed.timed(run)):
            found.append(f"board {one.name} of trials did not do the same run: {wrong}")
    return found


def outcomes(run: Run) -> list[str]:
    """What a board found after each trial agrees with the run, and with the other trials of that state."""
    if run.judged is None:
        return []
    found = [*_acknowledged(run)] if run.kills is not None else [*_alike(run)]
    found += [
        f"trial {row['trial']} executed {row['replayed']} transactions again, and {row['begun']} had begun"
        for row in run.judged.filter(~pl.col("replayed").is_between(0, pl.col("begun"))).iter_rows(named=True)
    ]
    lies = bool(run.cell.profiles["device"].get("ignores"))
    return found + _recovered(engines.of(run.cell.engine).RECOVERIES, run.judged, lies)


def _recovered(known: Mapping[str, bool | None], judged: pl.DataFrame, lies: bool) -> list[str]:
    """Say which openings met what there is not, or executed other transactions again than that leaves: none,
    some, and no more than there are afterwards. known: of the engine; {}: it says nothing. lies: the device
    may lose what was synced to it before the log in persistent memory was told to forget it: then what the
    log still has of a transaction is made again, and is not all of it."""
    found = list[str]()
    for row in judged.iter_rows(named=True) if known else ():
        met, again, there = row["recovery"], row["replayed"], row["transactions"]
        if met is None:
            continue
        apart = lies and row["line_policy"] is not None
        wrong = (
            met not in known
            or known[met] not in (None, again > 0)
            or (there is not None and again > there and not apart)
        )
        if wrong:
            after = "" if there is None else f", after which {there} are there"
            found.append(f"trial {row['trial']} met '{met}' and executed {again} transactions again{after}")
    return found


def looks(run: Run) -> list[str]:
    """What a board found in the database of a sampled trial is what the host finds in that one's files, with
    the same release, and another release, too, where it is whole."""
    said = run.host.get("trials_looks")
    if run.judged is None:
        return []
    tables = [board.trials for board in run.trials] if run.kills is None else [run.kills]
    rows = {row["trial"]: row for table in tables for row in table.iter_rows(named=True)}
    kept = {int(one.name): one for place in trials.places(run.folder) for one in sampled.folders(place)}
    count = run.cell.cuts if run.kills is None else len(kills.planned(run))
    of_any, table = engines.of(run.cell.engine).OF_ANY_SQLITE, oracle.table(run.cell)
    found = []
    for number in sampled.numbers(run.cell, count):
        row = rows.get(number)
        # of one that ended its board nothing was sent
        if row is None or row.get("mount_error", 0) != 0:
            continue
        read = functools.partial(sampled.rows, table=table) if of_any else None
        wrong = _looked(row, (said or {}).get(str(number)), kept.get(number), read)
        found += [f"trial {number}: {wrong}"] if wrong else []
    return found


def _looked(
    row: Mapping[str, Any],
    here: Mapping[str, Any] | None,
    kept: Path | None,
    read: Callable[[Path], Held | None] | None,
) -> str | None:
    """Say in what the host finds another thing than a board; None where in nothing. read: what any SQLite
    reads in the files, where it can."""
    if kept is None:
        return "its board kept no files of it for the host"
    if (kept / sampled.UNREAD).is_file():
        return "its board found whole what it could not read" if row["is_whole"] == 1 else None
    if here is None:
        return "the host did not look at its files"
    differs = [f"{name} {row[name]}, and {here[name]}" for name in sampled.FOUND if row[name] != here[name]]
    if differs:
        return f"its board found {differs[0]} is what the host finds in its files"
    if (
        read is not None
        and row["is_whole"] == 1
        and (there_is := read(kept)) != (row["rows"], int(row["hash"], 16))
    ):
        there = "nothing" if there_is is None else f"{there_is.rows} rows, hash {there_is.hash:016x}"
        return f"its board found {row['rows']} rows, hash {row['hash']}, and in its files there is {there}"
    return None


def _alike(run: Run) -> list[str]:
    """The same state comes to the same."""
    known, found = dict[str, tuple[int, tuple[Any, ...]]](), []
    for board in run.trials:
        said = {row["trial"]: row for row in board.trials.iter_rows(named=True)}
        for one in placed.on(run, board, placed.plan(run)):
            if (row := said.get(one.number)) is None:
                continue
            state = one.line().partition(" ")[2]
            if placed.may_be_nowhere(run, board, one):  # its numbers are that board's alone
                state = f"{board.name} {state}"
            outcome = tuple(row[name] for name in _OUTCOME)
            first, was = known.setdefault(state, (one.number, outcome))
            if was != outcome:
                found.append(f"trials {first} and {one.number} were of one state, and came to different ends")
    return found


def _acknowledged(run: Run) -> list[str]:
    """Each process that was killed had begun and acknowledged what the run had at that call."""
    begins, ends = (run.timing.transactions[name].to_numpy() for name in ("begin_ns", "end_ns"))
    at = {one.number: one.moment for one in kills.planned(run)}
    found = []
    for row in run.kills.iter_rows(named=True) if run.kills is not None else ():
        if (moment := at.get(row["trial"])) is None:
            continue
        wanted = tuple(int(np.searchsorted(edge, moment, side="right")) for edge in (begins, ends))
        if (told := (row["begun"], row["acknowledged"])) != wanted:
            found.append(
                f"trial {row['trial']} had begun {told[0]} and acknowledged {told[1]} transactions, and the "
                f"run {wanted[0]} and {wanted[1]} at that moment"
            )
    return found
