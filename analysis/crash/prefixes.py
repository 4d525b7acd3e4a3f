"""After how many transactions a database is that came up: by what there must be after each number.

To play a cell's SQL and look after each transaction would take minutes of a long trace; after those that were
acknowledged and begun at a cut it takes seconds, and nearly all databases are as after one of these.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping
from typing import Any

import polars as pl

from model.cell import Cell
from model.expected_state import oracle
from model.expected_state.hashes import Held

# How many transactions before those acknowledged are looked for in a database, one after another; None: all.
_BACK = (0, 32, 1024, None)


def states(cell: Cell, phases: list[str], tried: pl.DataFrame) -> Mapping[int, Held]:
    """Return what there must be after those numbers of transactions that decide what trials hold: at least
    after none, those acknowledged and those begun, and where a database is as after neither, those before.

    Raises ValueError where it is not known.
    """
    if not oracle.is_played(cell):
        return oracle.after(cell, phases, ())
    names = ("acknowledged", "begun", "is_read", "hash")
    rows = [(*row[:2], int(row[3], 16)) for row in tried.select(names).rows() if row[2] == 1]
    asked = {0}
    for back in _BACK:
        asked |= {number for low, high, _ in rows for number in _among(low, high, back)}
        found = oracle.after(cell, phases, asked)
        rows = [
            (low, high, total)
            for low, high, total in rows
            if all(number not in found or found[number].hash != total for number in _among(low, high, back))
        ]
        if not rows:
            break
    return found


def _among(acknowledged: int, begun: int, back: int | None) -> range:
    """Return the numbers of transactions that a database may be as after."""
    return range(0 if back is None else max(0, acknowledged - back), begun + 1)


class Known:
    """What there must be after numbers of transactions: of a trial all from what it holds to what had begun
    (states)."""

    def __init__(self, states: Mapping[int, Held]) -> None:
        self._after: dict[int, list[int]] = {}
        self._numbers = sorted(states)
        # of those that are known, how many up to each changed anything: an update may find the value that it
        # gives
        self._effects = dict.fromkeys(self._numbers, 0)
        for number in self._numbers:
            self._after.setdefault(states[number].hash, []).append(number)
        for before, number in itertools.pairwise(self._numbers):
            changed = states[number].hash != states[before].hash
            self._effects[number] = self._effects[before] + changed

    def held(self, row: Mapping[str, Any]) -> int | None:
        """Return after how many transactions the rows of a trial are, the most that had begun; None: after no
        number."""
        if row["is_read"] != 1:
            return None
        fits = [number for number in self._after.get(int(row["hash"], 16), []) if number <= row["begun"]]
        return max(fits, default=None)

    def first_between(self, first: int | None, last: int) -> int | None:
        """Return the first transaction that changed anything of those from one number up to another; None
        where there is none."""
        if first is None or first >= last or self._effects[first] == self._effects[last]:
            return None
        effects = [self._effects[number] for number in self._numbers]
        return self._numbers[bisect.bisect_right(effects, self._effects[first])] - 1

    def between(self, first: int | None, last: int) -> int | None:
        """Return how many transactions that changed anything are between two numbers, below 0 where the first
        is the larger."""
        return None if first is None else self._effects[last] - self._effects[first]
