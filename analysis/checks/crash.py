"""Are a run's trials those of its cuts, on boards that did the same run again?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.crash import fits, kills, placed, prefixes, sectors, verdicts
from analysis.run import Run
from model.crash_points import policies


def there(run: Run) -> list[str]:
    """Each trial of the cell's plan was tried, once; of a cell that asks for none, none was."""
    asked = run.cell.crash != "none"
    died = [int(number) for number in run.host.get("trials_died", ())]
    tables = [board.trials for board in run.trials] if run.kills is None else [run.kills]
    tried = sorted([*died, *(number for table in tables for number in table["trial"])])
    if not asked:
        return ["there are trials, and the cell asks for none"] if run.trials else []
    # a process has few moments, all of which may be tried
    wanted = len(kills.planned(run)) if run.cell.crash == policies.PROCESS else run.cell.cuts
    if tried == list(range(wanted)):
        return []
    missing = sorted(set(range(wanted)) - set(tried))
    return [
        f"of {wanted} trials {len(missing)} were not tried, the first {missing[0]}"
        if missing
        else f"there are {len(tried)} trials, the cell asks for {wanted}"
    ]


def as_planned(run: Run) -> list[str]:
    """A board of trials did the run that was timed: its device got the same commands, up to the drain in the
    same order but for what comes by a clock, and persistent memory the same calls; it was given that run's
    plan, and may have been left as it was shown in each trial. A plan of another run shows states that there
    never were."""
    if run.kills is not None:
        return _same(run.kills, {one.number: one.digest for one in kills.planned(run)})
    if not run.trials or run.timed_log is None:
        return ["there are trials, and no log of the run that they are of"] if run.trials else []
    digests = {trial.number: trial.digest for trial in placed.plan(run)}
    found = []
    for board in run.trials:
        another = f"board {board.name} of trials did not do the same run"
        if not placed.did_the_run(run, board):
            found.append(f"{another}: its device got other commands")
        elif not placed.made_the_calls(run, board):
            found.append(f"{another}: its engine stored or cleaned something else in persistent memory")
        elif other := _same(board.trials, digests):
            found += other
        elif board.driver.config["sql_sha256"] != run.driver.config["sql_sha256"]:
            found.append(f"{another}: it ran other SQL")
    return found or _possible(run)


def _possible(run: Run) -> list[str]:
    """Say whether a board was shown what no cut leaves there, but where its commands' order makes it so
    (crash/placed.py), of few trials. By its log alone: what came up has no part in it."""
    assert run.judged is not None
    plan, nowhere = placed.plan(run), verdicts.unplaced(run)
    died = {int(number) for number in run.host.get("trials_died", ())}.difference(run.judged["trial"])
    other = [n for n, board in nowhere.items() if not placed.may_be_nowhere(run, board, plan[n])]
    if wrong := sorted({*other, *died}):
        return [f"trial {wrong[0]} was of a state that by its board's log no cut leaves"]
    if len(nowhere) * fits.UNPLACED > len(plan):
        return [
            f"{len(nowhere)} of {len(plan)} trials were of states that by their boards' logs no cut leaves, "
            f"more than one in {fits.UNPLACED}: trial {min(nowhere)} is the first"
        ]
    return []


def _same(tried: pl.DataFrame, digests: Mapping[int, str]) -> list[str]:
    """Say whether a trial is not the plan's of that number."""
    other = [number for number, said in tried.select("trial", "plan").rows() if digests.get(number) != said]
    return [f"trial {other[0]} was of another state than the cell's plan has"] if other else []


def ends(run: Run) -> list[str]:
    """What the two ends of the run hold is known: nothing was done yet, and all of it is there. Where a trial
    finds something else, it is the hash, the device or the oracle that is wrong."""
    judged = run.judged
    if judged is None or judged.is_empty():
        return []
    last, phases = run.driver.transactions.height, verdicts.phases_of(run.driver)
    # the first command may come behind transactions that change nothing
    at_first = prefixes.states(run.cell, phases, judged)[0].hash
    planned = len(kills.planned(run)) if run.kills is not None else run.cell.cuts
    known = {0: ("begin", 0), planned - 1: ("end", last)}
    of_none = [
        f"as the run's {known[row['trial']][0]} it was to hold what was written, and trial {row['trial']} "
        f"found{sectors.shown(row)}"
        for row in judged.iter_rows(named=True)
        if row["trial"] in known and sectors.shown(row)
    ]
    return of_none + [
        f"as the run's {name} it was to hold {wanted} transactions whole, and trial {row['trial']} found: "
        f"{_held(row)}"
        for row in judged.iter_rows(named=True)
        if row["trial"] in known
        for name, wanted in (known[row["trial"]],)
        if row["is_whole"] != 1
        or (row["transactions"] != wanted and (wanted > 0 or int(row["hash"], 16) != at_first))
    ]


def _held(row: Mapping[str, Any]) -> str:
    """Say what a trial found that lost nothing that the device was given."""
    if row["verdict"] != verdicts.NO_PREFIX:
        return f"{row['verdict']}, {row['transactions']}"
    return (
        f"{row['verdict']}, as {verdicts.UNLIKE_ANY}. No cut did that: suspect the driver, which may "
        "acknowledge what it does not execute, or the engine"
    )
