"""Where a run's trials are on a board that did the run again: by that board's own log.

The plan tells a state by the numbers of the timed run's commands. A board gets the same commands, in the same
order but for what comes by a clock (order.py), as the board's is some µs apart. In the drain several threads
of the kernel write at once, and their commands may come in any order. What those numbers tell is then another
state. It is a trial of that board all the same if a cut may leave it there, at the plan's moment, or at
another of the drain: by then all transactions are acknowledged, so that none is judged by another number of
them. Else it is a trial of nothing, and is left out: by that board's log alone, whatever came up.

Of a cell with persistent memory a moment is one of the board's device and of its engine's calls at once: as
many of both have come, and both may lose what they lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import devicelog
from analysis.adapters.devicelog import DeviceLog
from analysis.adapters.driver import Driver
from analysis.adapters.trials import Board
from analysis.crash.order import Stretch, stretches
from analysis.run import Run
from model.crash_points import cuts, lines, moments, policies
from model.crash_points.cuts import Trial
from model.crash_points.durable import Cache, Commands
from model.crash_points.lines import Memory
from model.crash_points.moments import WHERE, Moment

# What comes by a clock comes no oftener.
CLOCK_NS = 1_000_000_000


class Numbers(NamedTuple):
    """Of a log, the numbers of the first command of the window, of the first of the drain, and of the one
    behind the window."""

    first: int
    drain: int
    behind: int

    @classmethod
    def of(cls, ran: Driver, log: DeviceLog) -> Numbers:
        """Return those of what a driver ran."""
        begin, end = ran.window
        drain = min(ran.phases.filter(pl.col("phase") == "drain")["begin_ns"], default=end)
        times = log.entries["begin_ns"].astype(np.int64)
        return cls(*np.searchsorted(times, [begin, min(drain, end), end]).tolist())


def plan(run: Run) -> list[Trial]:
    """Return the trials that the timed run's log makes; none without a log."""
    log = run.timed_log
    return [] if log is None else moments.plan(run.cell, log.entries, run.timing)


class Ran(NamedTuple):
    """What a driver ran, and what its device was told."""

    driver: Driver
    log: DeviceLog

    @property
    def numbers(self) -> Numbers:
        """Where its window and its drain are."""
        return Numbers.of(self.driver, self.log)


def timed(run: Run) -> Ran:
    """Return the run that was timed."""
    assert run.timed_log is not None
    return Ran(run.timing, run.timed_log)


def made_the_calls(run: Run, board: Board) -> bool:
    """Return whether a board's engine called what it has in persistent memory as the timed run's did."""
    own, other = lines.of(board.driver), lines.of(run.timing)
    return other is None if own is None else other is not None and own.same(other)


def of(board: Board) -> Ran:
    """Return what a board of trials ran."""
    return Ran(board.driver, board.log)


def apart(own: Ran, other: Ran) -> list[Stretch] | None:
    """Return where up to the drain two devices got the commands of one run in another order, by the numbers
    of the window's; None where they got others."""
    if own.numbers != other.numbers:
        return None
    first, drain, _ = own.numbers
    return stretches(*(one.log.entries[first:drain] for one in (own, other)))


def did_the_run(run: Run, board: Board) -> bool:
    """Return whether a board's device got the timed run's commands: in the same order up to the drain, but
    for what comes by a clock, and in the drain in any."""
    both = of(board), timed(run)
    begin, end = run.timing.window
    parted = apart(*both)
    if board.log.lost or parted is None or len(parted) > 1 + (end - begin) // CLOCK_NS:
        return False
    _, drain, behind = both[0].numbers
    return devicelog.same(*(one.log.entries[drain:behind] for one in both))


def same_state(own: Ran, other: Ran, trial: Trial) -> bool:
    """Return whether two that did the run show the same of a trial: what it keeps whole from the first on is
    the same set of commands, and all that came behind them is in the same order."""
    first, drain, behind = own.numbers
    whole = (trial.lost[0] if trial.lost else trial.arrived) - first
    parted = apart(own, other) or []
    if any(one.first < trial.arrived - first and one.behind > whole for one in parted):
        return False
    drains = [one.log.entries[drain:behind] for one in (own, other)]
    return trial.arrived <= drain or devicelog.alike(*drains) == behind - drain


def may_be_nowhere(run: Run, board: Board, trial: Trial) -> bool:
    """Return whether a board that did the run may have been shown what no cut leaves there: a trial whose
    commands came to it in another order."""
    return not same_state(of(board), timed(run), trial)


def on(run: Run, board: Board, planned: list[Trial]) -> list[Trial]:
    """Return the trials of a plan as a board's log has them, but those whose state no cut leaves there."""
    commands = Commands(board.log.entries, Cache.of(run.cell.profiles["device"]))
    numbers, choices = Numbers.of(board.driver, board.log), cuts.choices(run.cell, commands.cache)
    memory = lines.of(board.driver)
    found = [placed(commands, numbers, choices, trial, memory) for trial in planned]
    return [trial for trial in found if trial is not None]


def placed(
    commands: Commands,
    numbers: Numbers,
    choices: tuple[str, ...],
    trial: Trial,
    memory: Memory | None = None,
) -> Trial | None:
    """Return a trial as a log has it, at the moment next to the plan's at which a device of these choices
    may leave its state, and persistent memory what it has of it; None where there is none."""
    if max(trial.arrived, trial.command + 1) > commands.changes.size:
        return None
    kept, torn = _state(commands, trial)
    if torn and not commands.is_write[torn[0]]:
        return None
    there = np.flatnonzero(kept if torn is None else kept | (np.arange(kept.size) == torn[0]))
    for one in _moments(commands, memory, trial, numbers):
        at, where, command = one.at, one.where, trial.command if one.is_call else one.place
        arrived, may_lose = commands.arrived(at), commands.losable(at).tolist()
        lost = np.flatnonzero(commands.changes[:arrived] & ~kept[:arrived]).tolist()
        if (there.size and there[-1] >= arrived) or not set(lost) <= set(may_lose):
            continue
        policy = _policy(may_lose, lost, torn)
        if policy is None or policy not in choices:
            continue
        if (lost, torn, len(may_lose)) == ([*trial.lost], trial.torn, trial.losable):
            policy = trial.policy  # as it was drawn
        if trial.memory and not (memory and memory.may_leave(at, trial.memory)):
            continue
        call = trial.call if one.is_call else None
        of_cut = (trial.number, command, where, at, policy, arrived, len(may_lose))
        return Trial(*of_cut, tuple(lost), torn, call, _in_memory(memory, at, trial))
    return None


def _in_memory(memory: Memory | None, moment: int, trial: Trial) -> lines.State | None:
    """Return what a trial has of persistent memory, with what might be lost at a moment of a board's."""
    if memory is None or trial.memory is None:
        return None
    return replace(trial.memory, losable=0 if memory.deleted(moment) else len(memory.losable(moment)))


def _state(commands: Commands, trial: Trial) -> tuple[np.ndarray, tuple[int, int] | None]:
    """Return which changes of a log are whole in what a board shows of a trial, and which is torn: what is
    told of a command that changes nothing is nothing, and a part of a write that is as large is all of it."""
    kept = commands.changes.copy()
    kept[trial.arrived :] = False
    kept[[*trial.lost]] = False
    if trial.torn is None or not commands.changes[trial.torn[0]]:
        return kept, None
    number, sectors = trial.torn
    kept[number] = commands.sectors[number] <= sectors
    return kept, None if kept[number] else trial.torn


def _moments(commands: Commands, memory: Memory | None, trial: Trial, numbers: Numbers) -> Iterator[Moment]:
    """Yield the moments at which a trial may be, the plan's first."""
    if trial.call is None:
        yield Moment.of_command(commands, trial.command, trial.where)
    elif memory and (place := memory.place(trial.call)) is not None:
        yield Moment.of_call(memory, place, trial.where)
    if trial.arrived > numbers.drain:
        planned = (trial.command, WHERE.index(trial.where))
        every = [(command, place) for command in range(numbers.drain, numbers.behind) for place in range(3)]
        every.sort(key=lambda one: abs(3 * (one[0] - planned[0]) + one[1] - planned[1]))
        yield from (Moment.of_command(commands, command, WHERE[place]) for command, place in every)


def _policy(may_lose: list[int], lost: list[int], torn: tuple[int, int] | None) -> str | None:
    """Return what a device did that lost these of those that it might lose; None: none does that."""
    if lost == may_lose[len(may_lose) - len(lost) :]:
        if torn:
            return policies.TORN
        some = policies.PREFIX if len(lost) < len(may_lose) else policies.NOTHING
        return some if lost else policies.EVERYTHING
    if torn:
        return None
    return policies.SUFFIX if lost == may_lose[: len(lost)] else policies.SUBSET
