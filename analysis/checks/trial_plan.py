"""Check that each planned crash trial ran, on a board that repeated the run, and at its planned state.

A transaction's position among the device's commands decides what is acknowledged at a crash point, and so
what counts as lost. For a log in persistent memory, the position among its calls matters, too. In the 130
boards of 65 stored runs (two filesystems, three engines, an eMMC and a card) no edge was at another command,
neither when the command came nor when it was done.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters import trials
from analysis.crash import align, kills, prefixes, verdicts
from analysis.crash.align import Ran
from analysis.crash.reorder import Stretch
from analysis.run import Run
from base.arrays import Ints, ints
from model.crash_points import pmem_lines, policies

# A command that no thread waits for may come on the other side of an edge than in the timed run. At most one
# command and 1 % of the edges may differ.
_NEAR, _FEW = 1, 0.01


def timing_difference(own: Ran, other: Ran) -> str | None:
    """Return what differs from the timed run; None if nothing does."""
    parted = align.reordered(own, other) or []
    edges = [ran.driver.commits.select("begin_ns", "end_ns").to_numpy().ravel() for ran in (own, other)]
    memories = [pmem_lines.memory(ran.driver) for ran in (own, other)]
    # trial_plan.as_planned checks that both have the same calls
    calls = [memory for memory in memories if memory is not None]
    if edges[0].shape != edges[1].shape or not _among_commands((own, other), edges, parted):
        return "its transactions were at other commands"
    if len(calls) < len(memories):
        return None
    if any(not np.array_equal(*each) for each in zip(*map(_among_calls, calls, edges), strict=True)):
        return "its transactions were at other calls to persistent memory"
    if len(calls[0]) == len(calls[1]) and not _among_commands(
        (own, other), [_edges(memory) for memory in calls], parted
    ):
        return "its calls to persistent memory were at other commands"
    return None


def _among_commands(both: tuple[Ran, Ran], edges: list[Ints], parted: list[Stretch]) -> bool:
    """Return whether each edge lies among the same commands, or among commands that came in another order."""
    for times in zip(*map(_commands, both), strict=True):
        places, due = map(np.searchsorted, times, edges)
        differs = places != due
        for stretch in parted:
            differs &= ~(stretch.holds(places, _NEAR) & stretch.holds(due, _NEAR))
        if (np.abs(places - due)[differs] > _NEAR).any() or differs.sum() > max(1, _FEW * differs.size):
            return False
    return True


def _commands(ran: Ran) -> Iterator[Ints]:
    """Yield the sorted times when the window's commands came, and when they were done."""
    window = ran.log.within(*ran.driver.window)
    yield ints(window["begin_ns"].astype(np.int64))
    yield np.sort(ints(window["end_ns"].astype(np.int64)))


def _among_calls(memory: pmem_lines.Memory, edges: Ints) -> tuple[Ints, Ints]:
    """Return how many calls had begun, and how many had ended, at each edge of a transaction."""
    return np.searchsorted(memory.begin, edges), np.searchsorted(memory.end, edges)


def _edges(memory: pmem_lines.Memory) -> Ints:
    return ints(np.stack([memory.begin, memory.end], axis=1).ravel())


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
    """Check that each board of trials repeated the timed run and followed its plan.

    Its device got the same commands, up to the drain in the same order except timer-driven ones. Persistent
    memory got the same calls. A plan of another run would show states that never existed. Each shown state
    must be possible on the board (_possible).
    """
    if run.kills is not None:
        return _same(run.kills, {kill.number: kill.digest for kill in kills.planned(run)})
    if not run.trials or run.timed_log is None:
        return ["there are trials, but no log of the run that they belong to"] if run.trials else []
    digests = {trial.number: trial.digest for trial in align.plan(run)}
    reasons = []
    for board in run.trials:
        another = f"trial board {board.name} did not repeat the run"
        if not align.did_the_run(run, board):
            reasons.append(f"{another}: its device got other commands")
        elif not align.made_the_calls(run, board):
            reasons.append(f"{another}: its engine made other calls to persistent memory")
        elif other := _same(board.trials, digests):
            reasons += other
        elif board.driver.config["sql_sha256"] != run.driver.config["sql_sha256"]:
            reasons.append(f"{another}: it ran other SQL")
        elif board.driver.writers != run.timing.writers:
            reasons.append(f"{another}: its writers had the lock in another order")
    return reasons or _possible(run)


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
