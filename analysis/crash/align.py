"""Find each planned crash state in a trial board's command log; decide whether the board repeated the run.

The plan identifies a state by the numbers of the timed run's commands. A board gets the same commands in
the same order, except timer-driven ones (reorder.py), as its clock differs by some µs. In the drain, several
kernel threads write at once, and their commands may come in any order. A tick of the filesystem's clock
between two changes of a file decides whether its new time is written, so a drain may have a few commands more
or less. So the same numbers may identify another state.

The trial still counts if a crash may leave the shown state on that board: at the planned crash point, or at
another one of the drain. By then all transactions are acknowledged, so the expected result is the same.
Otherwise the trial is excluded. This is decided from the board's log alone, not from what was recovered.

With persistent memory, a crash point applies to the device and the engine's calls at once: the same number of
both have come, and both may lose what they lost.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import device_logs
from analysis.adapters.device_logs import DeviceLog
from analysis.adapters.driver import Driver
from analysis.adapters.trials import Board
from analysis.crash.reorder import Stretch, stretches
from analysis.recorded import Recorded
from model.crash_points import cuts, moments, pmem_lines, policies
from model.crash_points.cuts import WHERE, Trial
from model.crash_points.durable import Cache, Commands
from model.crash_points.moments import Moment
from model.crash_points.pmem_lines import Memory

# The shortest interval between two timer-driven stretches.
CLOCK_NS = 1_000_000_000


class Numbers(NamedTuple):
    """Command numbers in a log: first of the window, first of the drain, and first after the window."""

    first: int
    drain: int
    behind: int


def plan(run: Recorded) -> list[Trial]:
    """Return the trials planned from the timed run's log; none without a log."""
    log = run.timed_log
    return [] if log is None else moments.plan(run.cell, log.entries, run.timing)


class Ran(NamedTuple):
    """A driver's record of the run, and the log of its device."""

    driver: Driver
    log: DeviceLog

    @property
    def numbers(self) -> Numbers:
        """The numbers of its window and drain."""
        begin, end = self.driver.window
        phases = self.driver.phases
        drain = min(phases.filter(pl.col("phase") == "drain")["begin_ns"], default=end)
        times = self.log.entries["begin_ns"].astype(np.int64)
        return Numbers(*np.searchsorted(times, [begin, min(drain, end), end]).tolist())


def timed(run: Recorded) -> Ran:
    """Return the timed run."""
    assert run.timed_log is not None
    return Ran(run.timing, run.timed_log)


def made_the_calls(run: Recorded, board: Board) -> bool:
    """Return whether a board's engine made the same calls to persistent memory as the timed run's."""
    own, other = pmem_lines.memory(board.driver), pmem_lines.memory(run.timing)
    return other is None if own is None else other is not None and own.same(other)


def ran(board: Board) -> Ran:
    """Return a trial board's own repetition of the run."""
    return Ran(board.driver, board.log)


def reordered(own: Ran, other: Ran) -> list[Stretch] | None:
    """Return where two devices got the commands in another order, up to the drain, by numbers in the window.

    None if they got other commands.
    """
    if own.numbers[:2] != other.numbers[:2]:
        return None
    first, drain, _ = own.numbers
    return stretches(*(each.log.entries[first:drain] for each in (own, other)))


def did_the_run(run: Recorded, board: Board) -> bool:
    """Return whether a board's device got the timed run's commands up to the drain.

    They must be in the same order, except timer-driven ones. What the drain writes may differ.
    """
    begin, end = run.timing.window
    parted = reordered(ran(board), timed(run))
    return not board.log.lost and parted is not None and len(parted) <= 1 + (end - begin) // CLOCK_NS


def same_state(own: Ran, other: Ran, trial: Trial) -> bool:
    """Return whether a trial shows the same state on two boards that did the run.

    The set of commands kept up to the first loss must be equal, and all later ones in the same order.
    """
    first, drain, behind = own.numbers
    _, _, ended = other.numbers
    whole = (trial.lost[0] if trial.lost else trial.arrived) - first
    parted = reordered(own, other) or []
    if any(stretch.first < trial.arrived - first and stretch.behind > whole for stretch in parted):
        return False
    drains = [own.log.entries[drain:behind], other.log.entries[drain:ended]]
    same = device_logs.common_prefix(*drains) == behind - drain == ended - drain
    return trial.arrived <= drain or same


def may_be_unplaced(run: Recorded, board: Board, trial: Trial) -> bool:
    """Return whether a board may have shown a state that no crash leaves there.

    This is so if the trial's commands came to it in another order.
    """
    return not same_state(ran(board), timed(run), trial)


def located(run: Recorded, board: Board, planned: list[Trial]) -> list[Trial]:
    """Return the planned trials as a board's log has them, without those that are impossible there."""
    commands = Commands(board.log.entries, Cache.from_profile(run.cell.profiles["device"]))
    numbers, choices = ran(board).numbers, cuts.choices(run.cell, commands.cache)
    memory = pmem_lines.memory(board.driver)
    trials = [locate(commands, numbers, choices, trial, memory) for trial in planned]
    return [trial for trial in trials if trial is not None]


def locate(
    commands: Commands,
    numbers: Numbers,
    choices: tuple[str, ...],
    trial: Trial,
    memory: Memory | None = None,
) -> Trial | None:
    """Return a trial as a log has it, at the possible crash point nearest to the planned one.

    A crash point is possible if a device of these choices may leave the trial's state there, and persistent
    memory its part. None if there is none.
    """
    if max(trial.arrived, trial.command + 1) > commands.changes.size:
        return None
    kept, torn = _state(commands, trial)
    if torn and not commands.is_write[torn[0]]:
        return None
    there = np.flatnonzero(kept if torn is None else kept | (np.arange(kept.size) == torn[0]))
    for point in _crash_points(commands, memory, trial, numbers):
        at, where, command = point.at, point.where, trial.command if point.is_call else point.place
        arrived, may_lose = commands.arrived(at), commands.losable(at).tolist()
        lost = np.flatnonzero(commands.changes[:arrived] & ~kept[:arrived]).tolist()
        if (there.size and there[-1] >= arrived) or not set(lost) <= set(may_lose):
            continue
        policy = _policy(may_lose, lost, torn)
        if policy is None or policy not in choices:
            continue
        if (lost, torn, len(may_lose)) == ([*trial.lost], trial.torn, trial.losable):
            policy = trial.policy  # as planned
        if trial.memory and not (memory and memory.may_leave(at, trial.memory)):
            continue
        call = trial.call if point.is_call else None
        of_cut = (trial.number, command, where, at, policy, arrived, len(may_lose))
        return Trial(*of_cut, tuple(lost), torn, call, _in_memory(memory, at, trial))
    return None


def _in_memory(memory: Memory | None, moment: int, trial: Trial) -> pmem_lines.State | None:
    """Return a trial's state of persistent memory, with the number of lines losable on the board."""
    if memory is None or trial.memory is None:
        return None
    return replace(trial.memory, losable=0 if memory.deleted(moment) else len(memory.losable(moment)))


def _state(commands: Commands, trial: Trial) -> tuple[np.ndarray, tuple[int, int] | None]:
    """Return which changes of a log are complete in a trial's state, and which is torn.

    Losing a command that changes nothing has no effect. A part as large as the write is all of it.
    """
    kept = commands.changes.copy()
    kept[trial.arrived :] = False
    kept[[*trial.lost]] = False
    if trial.torn is None or not commands.changes[trial.torn[0]]:
        return kept, None
    number, sectors = trial.torn
    kept[number] = commands.sectors[number] <= sectors
    return kept, None if kept[number] else trial.torn


def _crash_points(
    commands: Commands, memory: Memory | None, trial: Trial, numbers: Numbers
) -> Iterator[Moment]:
    """Yield the possible crash points of a trial, the planned one first."""
    if trial.call is None:
        yield Moment.of_command(commands, trial.command, trial.where)
    elif memory and (place := memory.place(trial.call)) is not None:
        yield Moment.of_call(memory, place, trial.where)
    if trial.arrived > numbers.drain:
        planned = (trial.command, WHERE.index(trial.where))
        every = [(command, place) for command in range(numbers.drain, numbers.behind) for place in range(3)]
        every.sort(key=lambda point: abs(3 * (point[0] - planned[0]) + point[1] - planned[1]))
        yield from (Moment.of_command(commands, command, WHERE[place]) for command, place in every)


def _policy(may_lose: list[int], lost: list[int], torn: tuple[int, int] | None) -> str | None:
    """Return the policy that loses exactly `lost` of the losable commands; None if there is none."""
    if lost == may_lose[len(may_lose) - len(lost) :]:
        if torn:
            return policies.TORN
        some = policies.PREFIX if len(lost) < len(may_lose) else policies.NOTHING
        return some if lost else policies.EVERYTHING
    if torn:
        return None
    return policies.SUFFIX if lost == may_lose[: len(lost)] else policies.SUBSET
