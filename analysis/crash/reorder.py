"""Where two devices got the commands of one run in another order.

What nobody waits for comes by a clock: a commit of a journal every five seconds, where no sync has
asked for one before. On a board whose clock is apart such commands come between others of the engine's than
on the one that was timed, and behind them both go on alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import NamedTuple

import numpy as np

from analysis.adapters import devicelog

# More commands than these are no few that came sooner or later.
MOST = 256
# Of what a command is (devicelog.what); a FLUSH has none.
_SECTORS = 2


class Stretch(NamedTuple):
    """Commands that both got, in another order; the numbers of the first, and of the one behind."""

    first: int
    behind: int

    def holds(self, numbers: np.ndarray, beside: int) -> np.ndarray:
        """Return which numbers are of it, or so near."""
        found: np.ndarray = (numbers >= self.first - beside) & (numbers <= self.behind + beside)
        return found


def stretches(own: np.ndarray, other: np.ndarray) -> list[Stretch] | None:
    """Return where two devices' commands are in another order; None where one got others than the other, one
    far sooner or later, or not as of two who each kept to an order."""
    if own.size != other.size:
        return None
    mine, others = (devicelog.what(entries) for entries in (own, other))
    found, place = list[Stretch](), 0
    while place < own.size:
        if mine[place] == others[place]:
            place += 1
            continue
        first, left = place, Counter[object]()
        while place < own.size and place - first < MOST:
            for one, count in ((mine[place], 1), (others[place], -1)):
                left[one] += count
                if not left[one]:
                    del left[one]
            place += 1
            if not left:
                break
        if left or not _of_two(mine[first:place], others[first:place]):
            return None
        found.append(Stretch(first, place))
    return found


def _of_two(own: list[tuple[int, ...]], other: list[tuple[int, ...]]) -> bool:
    """Whether one order becomes the other if two take turns otherwise: no three of its commands are the other
    way round, each with each. Of a FLUSH nobody says whose it is."""
    places = defaultdict[object, deque[int]](deque)
    for place, one in enumerate(other):
        places[one].append(place)
    # the last of either, as far as it had to be behind what came later
    last, behind = -1, -1
    for one in own:
        place = places[one].popleft()
        if not one[_SECTORS]:
            continue
        if place > last:
            last = place
        elif place > behind:
            behind = place
        else:
            return False
    return True
