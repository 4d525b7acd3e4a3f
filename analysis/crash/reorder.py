"""Find the stretches in which two devices got the commands of one run in another order.

Background work comes by a timer: a journal commit every five seconds, unless a sync requested one before.
On a board with another clock, it comes between other commands of the engine than in the timed run.
After them, both boards get the same commands again.
"""

from collections import Counter, defaultdict, deque
from typing import NamedTuple

import numpy as np

from analysis.adapters import device_logs

# A longer stretch is not explained by a few timer-driven commands.
MOST = 256
# Index in a command's identity (device_logs.command_keys); 0 for a FLUSH.
_SECTORS = 2


class Stretch(NamedTuple):
    """Commands that both got, in another order: number of the first, and of the one behind the last."""

    first: int
    behind: int

    def holds(self, numbers: np.ndarray, margin: int) -> np.ndarray:
        """Return which numbers are in the stretch, or at most `margin` away."""
        within: np.ndarray = (numbers >= self.first - margin) & (numbers <= self.behind + margin)
        return within


def stretches(own: np.ndarray, other: np.ndarray) -> list[Stretch] | None:
    """Return the stretches where two devices' commands are in another order.

    None if one device got other commands, one came much earlier or later, or the order is not a different
    interleaving of the same two sequences.
    """
    if own.size != other.size:
        return None
    mine, others = (device_logs.command_keys(entries) for entries in (own, other))
    result, place = list[Stretch](), 0
    while place < own.size:
        if mine[place] == others[place]:
            place += 1
            continue
        first, left = place, Counter[object]()
        while place < own.size and place - first < MOST:
            for command, count in ((mine[place], 1), (others[place], -1)):
                left[command] += count
                if not left[command]:
                    del left[command]
            place += 1
            if not left:
                break
        if left or not _two_sequences(mine[first:place], others[first:place]):
            return None
        result.append(Stretch(first, place))
    return result


def _two_sequences(own: list[tuple[int, ...]], other: list[tuple[int, ...]]) -> bool:
    """Return whether both orders interleave the same two sequences: no three commands are in reverse order.

    A FLUSH is ignored, as either sequence may have sent it.
    """
    places = defaultdict[object, deque[int]](deque)
    for place, command in enumerate(other):
        places[command].append(place)
    # the last place of each sequence, `behind` being the one that lags
    last, behind = -1, -1
    for command in own:
        place = places[command].popleft()
        if not command[_SECTORS]:
            continue
        if place > last:
            last = place
        elif place > behind:
            behind = place
        else:
            return False
    return True
