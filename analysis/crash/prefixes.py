"""Find how many transactions a recovered database holds, by the expected hash of its rows after each number.

Replaying a cell's SQL and hashing after each transaction takes minutes for a long trace. Hashing only after
the numbers acknowledged and begun at crash points takes seconds; nearly all databases match one of them.
"""

import bisect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from model.cell import Cell
from model.expected_state import oracle
from model.expected_state.hashes import Held

# How many transactions before the acknowledged ones are searched, in steps; None: all.
_BACK = (0, 32, 1024, None)


def states(
    cell: Cell, phases: list[str], tried: pl.DataFrame, writers: Sequence[int] = ()
) -> Mapping[int, Held]:
    """Return the expected states after the numbers of transactions that decide the trials' results.

    These are at least none, those acknowledged and those begun; if a database matches neither, also earlier
    ones. writers: of each transaction; empty for one writer. Raises ValueError if a state is unknown.
    """
    if not oracle.is_played(cell):
        return oracle.after(cell, phases, (), writers)
    names = ("acknowledged", "begun", "is_read", "hash")
    rows = [(*row[:2], int(row[3], 16)) for row in tried.select(names).rows() if row[2] == 1]
    requested = {0}
    for back in _BACK:
        requested |= {number for low, high, _ in rows for number in _among(low, high, back)}
        expected = oracle.after(cell, phases, requested)
        rows = [
            (low, high, total)
            for low, high, total in rows
            if all(
                number not in expected or expected[number].hash != total for number in _among(low, high, back)
            )
        ]
        if not rows:
            break
    return expected


def _among(acknowledged: int, begun: int, back: int | None) -> range:
    """Return the numbers of transactions that a database may hold."""
    return range(0 if back is None else max(0, acknowledged - back), begun + 1)


class ExpectedStates:
    """Expected states after numbers of transactions (states), from what a trial holds to what had begun."""

    def __init__(self, states: Mapping[int, Held]) -> None:
        self._after: dict[int, list[int]] = {}
        self._numbers = sorted(states)
        # how many transactions up to each number had an effect: an update may set the value that was there
        self._effects = dict.fromkeys(self._numbers, 0)
        for number in self._numbers:
            self._after.setdefault(states[number].hash, []).append(number)
        for before, number in itertools.pairwise(self._numbers):
            changed = states[number].hash != states[before].hash
            self._effects[number] = self._effects[before] + changed

    def held(self, row: Mapping[str, Any]) -> int | None:
        """Return how many transactions a trial holds, at most those begun; None if it matches no number."""
        if row["is_read"] != 1:
            return None
        fits = [number for number in self._after.get(int(row["hash"], 16), []) if number <= row["begun"]]
        return max(fits, default=None)

    def first_between(self, first: int | None, last: int) -> int | None:
        """Return the first transaction between two numbers that had an effect; None if there is none."""
        if first is None or first >= last or self._effects[first] == self._effects[last]:
            return None
        effects = [self._effects[number] for number in self._numbers]
        return self._numbers[bisect.bisect_right(effects, self._effects[first])] - 1

    def between(self, first: int | None, last: int) -> int | None:
        """Return how many transactions with an effect lie between two numbers; negative if first > last."""
        return None if first is None else self._effects[last] - self._effects[first]
