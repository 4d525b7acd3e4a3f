"""Check that each board of crash trials is the run's board and repeated the run before its trials.

It had the run's settings, commands, calls, SQL and writers, and its transactions lay among the same commands.
The positions of transactions among the device's commands decide which ones are acknowledged at a crash point,
and so which count as lost. For a log in persistent memory, the position among its calls matters, too. In the
130 boards of 65 stored runs (two filesystems, three engines, an eMMC and a card) no edge was at another
command, neither when the command came nor when it was done.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analysis.adapters.trials import Board
from analysis.checks import baseline, loss
from analysis.crash import align
from analysis.crash.align import Ran
from analysis.crash.reorder import Stretch
from analysis.run import Run
from base.arrays import Ints, ints
from model.crash_points import pmem_lines, policies
from model.requested.expected import TRIALS

# A command that no thread waits for may come on the other side of an edge than in the timed run. At most one
# command and 1 % of the edges may differ.
_NEAR, _FEW = 1, 0.01


def boards(run: Run) -> list[str]:
    """Check that each trial board is the run's board, unwatched, and ran the plan's steps."""
    reasons = []
    for name, board in run.trial_boards.items():
        who = f"trial board {name}"
        folder = run.folder / policies.FOLDER / name
        as_run = replace(run, folder=folder, board=board, planned_as=TRIALS)
        reasons += [f"{who}: {problem}" for problem in loss.steps_succeeded(as_run)]
        if not baseline.unwatched(board.run):
            reasons.append(f"{who} was observed, or does not report that it was not")
        if run.kills is None:
            reasons += baseline.board_differences(who, board, run.board)
    return reasons


def repeat_run(run: Run) -> list[str]:
    """Check that each board of trials repeated the timed run.

    Its device got the same commands, up to the drain in the same order except timer-driven ones. Persistent
    memory got the same calls. Transactions and these calls lay among the same commands.
    """
    if run.timed_log is None:
        return []
    return [
        f"trial board {board.name} did not repeat the run: {difference}"
        for board in run.trials
        if (difference := _difference(run, board))
    ]


def _difference(run: Run, board: Board) -> str | None:
    """Return what differs from the timed run; None if nothing does."""
    if not align.did_the_run(run, board):
        return "its device got other commands"
    if not align.made_the_calls(run, board):
        return "its engine made other calls to persistent memory"
    if board.driver.config["sql_sha256"] != run.driver.config["sql_sha256"]:
        return "it ran other SQL"
    if board.driver.writers != run.timing.writers:
        return "its writers had the lock in another order"
    return _timing_difference(align.ran(board), align.timed(run))


def _timing_difference(own: Ran, other: Ran) -> str | None:
    """Return what differs in where transactions and calls lie; None if nothing does. The calls are equal."""
    parted = align.reordered(own, other) or []
    edges = [ran.driver.commits.select("begin_ns", "end_ns").to_numpy().ravel() for ran in (own, other)]
    calls = [memory for ran in (own, other) if (memory := pmem_lines.memory(ran.driver)) is not None]
    if edges[0].shape != edges[1].shape or not _among_commands((own, other), edges, parted):
        return "its transactions were at other commands"
    if not calls:
        return None
    if any(not np.array_equal(*each) for each in zip(*map(_among_calls, calls, edges), strict=True)):
        return "its transactions were at other calls to persistent memory"
    if not _among_commands(
        (own, other), [ints(np.stack([each.begin, each.end], axis=1).ravel()) for each in calls], parted
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
