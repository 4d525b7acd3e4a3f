"""Check that crash trials ran as planned and showed possible states; check the first's and last's data."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.adapters import trials
from analysis.checks import trial_boards
from analysis.crash import align, kills, prefixes, verdicts
from analysis.run import Run
from model.crash_points import policies

# At most one in so many trials may show a state that no crash leaves on its board (crash/align.py).
_UNPLACED = 10


def complete(run: Run) -> list[str]:
    """Check that each planned trial ran once, and none ran if the cell requests none."""
    requested = run.cell.crash != "none"
    died = [int(number) for number in run.host.get("trials_died", ())]
    tables = [board.trials for board in run.trials] if run.kills is None else [run.kills]
    tried = sorted([*died, *(number for table in tables for number in table["trial"])])
    if not requested:
        return ["there are crash trials, but the cell requests none"] if run.trials else []
    # a process has few crash points; there may be fewer than `cuts`
    wanted = len(kills.planned(run)) if run.cell.crash in policies.RERUN else run.cell.cuts
    if tried == list(range(wanted)):
        return []
    missing = sorted(set(range(wanted)) - set(tried))
    return [
        f"{len(missing)} of {wanted} trials were not run, first trial {missing[0]}"
        if missing
        else f"there are {len(tried)} trials; the cell requests {wanted}"
    ]


def as_planned(run: Run) -> list[str]:
    """Check that each board of trials repeated the run, followed the cell's plan and showed possible states.

    A plan of another run would show states that never existed. The states are checked only of boards that
    pass the rest.
    """
    if run.kills is not None:
        return _same(run.kills, {kill.number: kill.digest for kill in kills.planned(run)})
    if not run.trials or run.timed_log is None:
        return ["there are trials, but no log of the run that they belong to"] if run.trials else []
    digests = {trial.number: trial.digest for trial in align.plan(run)}
    reasons = [reason for board in run.trials for reason in _same(board.trials, digests)]
    return [*trial_boards.repeat_run(run), *reasons] or _possible(run)


def _possible(run: Run) -> list[str]:
    """Return a message if a trial showed a state that no crash can leave on its board.

    A few such trials are allowed where the board's commands came in another order (crash/align.py). Decided
    from the board's log alone, never from the recovered state.
    """
    assert run.judged is not None
    plan, nowhere = align.plan(run), verdicts.unplaced(run)
    died = {int(number) for number in run.host.get("trials_died", ())}.difference(run.judged["trial"])
    other = [n for n, board in nowhere.items() if not align.may_be_unplaced(run, board, plan[n])]
    if wrong := sorted({*other, *died}):
        return [f"trial {wrong[0]} showed a state that no crash leaves, by its board's log"]
    if len(nowhere) * _UNPLACED > len(plan):
        return [
            f"{len(nowhere)} of {len(plan)} trials showed states that no crash leaves, by their boards' logs "
            f"(at most one in {_UNPLACED} is allowed), first trial {min(nowhere)}"
        ]
    return []


def _same(tried: pl.DataFrame, digests: Mapping[int, str]) -> list[str]:
    """Return a message if a trial differs from the plan's trial of that number."""
    other = [
        number for number, digest in tried.select("trial", "plan").rows() if digests.get(number) != digest
    ]
    return [f"trial {other[0]} showed another state than the cell's plan"] if other else []


def faults_fired(run: Run) -> list[str]:
    """Check that each fault fired, at the command of the run that it was planned for."""
    return kills.faults_fired(run) if run.cell.crash == policies.FAULT else []


def ends(run: Run) -> list[str]:
    """Check the first and the last trial, which must hold no transaction and all of them.

    A failure points to the hash, the device model or the oracle.
    """
    judged = run.judged
    if judged is None or judged.is_empty() or run.cell.crash == policies.FAULT:
        return []
    last, phases = run.timing.commits.height, verdicts.phases_of(run.driver)
    # transactions that change nothing may precede the first command
    at_first = prefixes.states(run.cell, phases, judged, run.timing.writers)[0].hash
    planned = len(kills.planned(run)) if run.kills is not None else run.cell.cuts
    edges = {0: ("begin", 0), planned - 1: ("end", last)}
    unwritten = [
        f"trial {row['trial']}, at the run's {edges[row['trial']][0]}, must hold only written data, "
        f"but has{trials.shown_sectors(row)}"
        for row in judged.iter_rows(named=True)
        if row["trial"] in edges and trials.shown_sectors(row)
    ]
    return unwritten + [
        f"trial {row['trial']}, at the run's {name}, must hold {wanted} transactions intact, but has: "
        f"{_held(row)}"
        for row in judged.iter_rows(named=True)
        if row["trial"] in edges
        for name, wanted in (edges[row["trial"]],)
        if row["is_whole"] != 1
        or (row["transactions"] != wanted and (wanted > 0 or int(row["hash"], 16) != at_first))
    ]


def _held(row: Mapping[str, Any]) -> str:
    """Describe what a trial recovered from a device that lost nothing."""
    if row["verdict"] != verdicts.NO_PREFIX:
        return f"{row['verdict']}, {row['transactions']}"
    return (
        f"{row['verdict']}: {verdicts.UNLIKE_ANY}. No crash causes this: suspect the driver, which may "
        "acknowledge what it does not execute, or the engine"
    )
