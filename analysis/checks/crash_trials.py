"""Check crash trials' results against the run, trials of the same crash state, and the host's own reading."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters import trials
from analysis.adapters.trials import RECOVERY
from analysis.crash import align, kills
from analysis.run import Run
from model import engines
from model.crash_points import policies
from model.expected_state import oracle, sampled
from model.expected_state.hashes import Held

# Columns that depend only on the state the device showed, not on time.
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


def outcomes(run: Run) -> list[str]:
    """Check that trial results agree with the run, and with other trials of the same state."""
    if run.judged is None:
        return []
    reasons = [*_acknowledged(run)] if run.kills is not None else [*_alike(run)]
    reasons += [
        f"trial {row['trial']} re-executed {row['replayed']} transactions, but {row['begun']} had begun"
        for row in run.judged.filter(~pl.col("replayed").is_between(0, pl.col("begun"))).iter_rows(named=True)
    ]
    ignores_flush = bool(run.cell.profiles["device"].get("ignores"))
    recoveries = engines.by_name(run.cell.engine).RECOVERIES
    return reasons + _recovered(recoveries, run.judged, ignores_flush)


def _recovered(recoveries: Mapping[str, bool | None], judged: pl.DataFrame, ignores_flush: bool) -> list[str]:
    """Return messages on recoveries of an unknown kind or with an impossible number of transactions.

    recoveries: by kind, whether it re-executes transactions (None: it may); {}: the engine reports none.
    ignores_flush: the device may lose data that was synced before the log in persistent memory was truncated.
    Then transactions left in the log are re-executed, but earlier ones may be missing.
    """
    reasons = list[str]()
    for row in judged.iter_rows(named=True) if recoveries else ():
        met, again, there = row["recovery"], row["replayed"], row["transactions"]
        if met is None:
            continue
        may_miss = ignores_flush and row["line_policy"] is not None
        wrong = (
            met not in recoveries
            or recoveries[met] not in (None, again > 0)
            or (there is not None and again > there and not may_miss)
        )
        if wrong:
            after = "" if there is None else f"; the database then has {there}"
            reasons.append(f"trial {row['trial']}: recovery '{met}' re-executed {again} transactions{after}")
    return reasons


def sampled_databases(run: Run) -> list[str]:
    """Check that the host reads the same from the files of a sampled trial as the board did.

    The host uses the same SQLite release, and another release, too, where the database is intact.
    """
    looks = run.host.get("trials_looks")
    if run.judged is None:
        return []
    tables = [board.trials for board in run.trials] if run.kills is None else [run.kills]
    rows = {row["trial"]: row for table in tables for row in table.iter_rows(named=True)}
    kept = {
        int(path.name): path for place in trials.raw_folders(run.folder) for path in sampled.folders(place)
    }
    count = run.cell.cuts if run.kills is None else len(kills.planned(run))
    of_any = engines.by_name(run.cell.engine).OF_ANY_SQLITE
    reasons = []
    for number in sampled.numbers(run.cell, count):
        row = rows.get(number)
        # a trial that ended its board sends nothing
        if row is None or row.get("mount_error", 0) != 0:
            continue
        read = (lambda kept: sampled.rows(kept, *oracle.tables(run.cell))) if of_any else None
        wrong = _look_difference(row, (looks or {}).get(str(number)), kept.get(number), read)
        reasons += [f"trial {number}: {wrong}"] if wrong else []
    return reasons


def _look_difference(
    row: Mapping[str, Any],
    here: Mapping[str, Any] | None,
    kept: Path | None,
    read: Callable[[Path], Held | None] | None,
) -> str | None:
    """Return how the host's result differs from the board's; None if it does not.

    read: reads the files with any SQLite, where that is possible.
    """
    if kept is None:
        return "its board stored no files for the host"
    if (kept / sampled.UNREAD).is_file():
        return "its board found the database intact, but could not read it" if row["is_whole"] == 1 else None
    if here is None:
        return "the host did not read its files"
    differs = [
        f"{name}: board {row[name]}, host {here[name]}" for name in sampled.FOUND if row[name] != here[name]
    ]
    if differs:
        return f"board and host read different results from its files: {differs[0]}"
    if (
        read is not None
        and row["is_whole"] == 1
        and (actual := read(kept)) != (row["rows"], int(row["hash"], 16))
    ):
        there = "nothing" if actual is None else f"{actual.rows} rows, hash {actual.hash:016x}"
        return f"its board read {row['rows']} rows, hash {row['hash']}; its files have {there}"
    return None


def _alike(run: Run) -> list[str]:
    """Check that trials of the same state have the same outcome."""
    outcomes, reasons = dict[str, tuple[int, tuple[Any, ...]]](), []
    for board in run.trials:
        rows = {row["trial"]: row for row in board.trials.iter_rows(named=True)}
        for trial in align.located(run, board, align.plan(run)):
            if (row := rows.get(trial.number)) is None:
                continue
            state = trial.line().partition(" ")[2]
            if align.may_be_unplaced(run, board, trial):  # its command numbers hold on that board only
                state = f"{board.name} {state}"
            outcome = tuple(row[name] for name in _OUTCOME)
            first, earlier = outcomes.setdefault(state, (trial.number, outcome))
            if earlier != outcome:
                reasons.append(f"trials {first} and {trial.number} had the same state, but other outcomes")
    return reasons


def _acknowledged(run: Run) -> list[str]:
    """Check that each killed process had begun and acknowledged what the run had at that call.

    Where the device has a fault, it depends on the fault.
    """
    if run.cell.crash == policies.FAULT:
        return []
    begins, ends = (run.timing.transactions[name].to_numpy() for name in ("begin_ns", "end_ns"))
    at = {kill.number: kill.moment for kill in kills.planned(run)}
    reasons = []
    for row in run.kills.iter_rows(named=True) if run.kills is not None else ():
        if (moment := at.get(row["trial"])) is None:
            continue
        wanted = tuple(int(np.searchsorted(edge, moment, side="right")) for edge in (begins, ends))
        if (counted := (row["begun"], row["acknowledged"])) != wanted:
            reasons.append(
                f"trial {row['trial']} had begun {counted[0]} and acknowledged {counted[1]} transactions; at "
                f"that point the run had {wanted[0]} and {wanted[1]}"
            )
    return reasons
