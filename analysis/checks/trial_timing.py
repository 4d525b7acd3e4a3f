"""Check that a trial board's transactions lie among the same device commands as the timed run's.

Their position decides what is acknowledged at a crash point, and so what counts as lost. For a log in
persistent memory, the position among its calls matters, too.

In the 130 boards of 65 stored runs (two filesystems, three engines, an eMMC and a card) no edge was at
another command, neither when the command came nor when it was done.
"""

from collections.abc import Iterator

import numpy as np

from analysis.crash import align
from analysis.crash.align import Ran
from analysis.crash.reorder import Stretch
from base.arrays import Ints, ints
from model.crash_points import pmem_lines

# A command that no thread waits for may come on the other side of an edge than in the timed run. At most one
# command and 1 % of the edges may differ.
_NEAR, _FEW = 1, 0.01


def difference(own: Ran, other: Ran) -> str | None:
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
