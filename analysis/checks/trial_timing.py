"""Were the moments of a board of trials where the timed run had them? What is acknowledged at a cut, and so
lost, hangs on where a transaction's edges are among the commands of the device, and, of a log in persistent
memory, among its calls.

In the 130 boards of 65 stored runs (two filesystems, three engines, an eMMC and a card) not
one edge was beside another command, neither as it came nor as it was done.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.crash import placed
from analysis.crash.order import Stretch
from analysis.crash.placed import Ran
from base.arrays import Ints, ints
from model.crash_points import lines

# A command that nobody waits for may come on another side of an edge than in the run that was timed; of few
# edges.
_BESIDE, _FEW = 1, 0.01


def moved(own: Ran, other: Ran) -> str | None:
    """Say what of a board is not where the timed run had it; None where nothing is."""
    parted = placed.apart(own, other) or []
    edges = [one.driver.transactions.select("begin_ns", "end_ns").to_numpy().ravel() for one in (own, other)]
    memories = [lines.of(one.driver) for one in (own, other)]
    # that both have the same calls crash.as_planned says
    calls = [memory for memory in memories if memory is not None]
    if edges[0].shape != edges[1].shape or not _among_commands((own, other), edges, parted):
        return "its transactions were at other commands"
    if len(calls) < len(memories):
        return None
    if any(not np.array_equal(*each) for each in zip(*map(_among_calls, calls, edges), strict=True)):
        return "its transactions were at other calls to persistent memory"
    if len(calls[0]) == len(calls[1]) and not _among_commands(
        (own, other), [_edges(one) for one in calls], parted
    ):
        return "its calls to persistent memory were at other commands"
    return None


def _among_commands(both: tuple[Ran, Ran], edges: list[Ints], parted: list[Stretch]) -> bool:
    """Whether each of a run's moments is among the same commands, or those that came in another order."""
    for times in zip(*map(_commands, both), strict=True):
        places, due = map(np.searchsorted, times, edges)
        beside = places != due
        for one in parted:
            beside &= ~(one.holds(places, _BESIDE) & one.holds(due, _BESIDE))
        if (np.abs(places - due)[beside] > _BESIDE).any() or beside.sum() > max(1, _FEW * beside.size):
            return False
    return True


def _commands(ran: Ran) -> Iterator[Ints]:
    """Yield when the commands of the window came, and when they were done."""
    window = ran.log.within(*ran.driver.window)
    yield ints(window["begin_ns"].astype(np.int64))
    yield np.sort(ints(window["end_ns"].astype(np.int64)))


def _among_calls(memory: lines.Memory, edges: Ints) -> tuple[Ints, Ints]:
    """Return how many calls had begun, and how many were done, at each edge of a transaction."""
    return np.searchsorted(memory.begin, edges), np.searchsorted(memory.end, edges)


def _edges(memory: lines.Memory) -> Ints:
    return ints(np.stack([memory.begin, memory.end], axis=1).ravel())
