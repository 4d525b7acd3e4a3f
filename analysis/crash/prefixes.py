"""Find which transactions a recovered database holds, the first n or with a gap, by hashes of its rows.

Replaying a cell's SQL and hashing after each transaction takes minutes for a long trace. Hashing only after
the numbers acknowledged and begun at crash points takes seconds; nearly all databases match one of them.

A hole: a later transaction is there, and an earlier one is gone. An engine may lose the last transactions, as
far as it does not promise them. A hole is never allowed. It is found as one gap: the transactions before it
and some after it give the content, without those in it. Such gaps are what an engine leaves that recovers a
later log without the end of an earlier one, or that goes on behind a damaged part of a log.
"""

import bisect
import itertools
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

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


# Transactions that change something; the search takes the cube of their number, 15 s for so many.
MOST = 400


class Hole(NamedTuple):
    """Transactions from 0: the first and the last that are missing, and the last that is there."""

    first: int
    last: int
    there: int


class Sought(NamedTuple):
    """The hash of an unexplained content, and the number of transactions begun: no later one can be there."""

    total: int
    begun: int


def find_holes(
    cell: Cell, phases: list[str], wanted: Set[Sought], writers: Sequence[int] = ()
) -> dict[Sought, Hole]:
    """Return the smallest hole that explains each content.

    Nothing for a content that no hole explains, for SQL that is played, and for more than MOST transactions
    with changes.
    """
    found = dict[Sought, Hole]()
    if not wanted or oracle.is_played(cell):
        return found
    content, transactions = oracle.changes(cell, phases, writers)
    numbers = range(max(sought.begun for sought in wanted))
    changes = [(number, one) for number, one in zip(numbers, transactions, strict=False) if one]
    if len(changes) > MOST:
        return found
    by_total = dict[int, list[Sought]]()
    for sought in wanted:
        by_total.setdefault(sought.total, []).append(sought)
    for first in range(len(changes)):
        for behind in range(first + 1, len(changes)):
            with_gap = oracle.Content(content.rows)
            for number, transaction in changes[behind:]:
                with_gap.apply(transaction)
                for sought in by_total.get(with_gap.total, ()):
                    if number < sought.begun and (
                        sought not in found or behind - first < found[sought].last - found[sought].first + 1
                    ):
                        found[sought] = Hole(changes[first][0], changes[behind - 1][0], number)
        content.apply(changes[first][1])
    return found


def holes_of_trials(
    trials: pl.DataFrame,
    held: Sequence[int | None],
    cell: Cell,
    phases: list[str],
    writers: Sequence[int] = (),
) -> pl.DataFrame:
    """Return the hole of each trial in columns; null where it has none, or its content is unexplained.

    held: how many transactions each trial holds.
    """
    unlike = [
        Sought(int(row["hash"], 16), row["begun"]) if number is None and row["is_read"] == 1 else None
        for row, number in zip(trials.iter_rows(named=True), held, strict=True)
    ]
    found = find_holes(cell, phases, {one for one in unlike if one}, writers)
    holes = [found.get(one) if one else None for one in unlike]
    return pl.DataFrame(
        [hole or (None, None, None) for hole in holes],
        schema={f"hole_{name}": pl.Int64 for name in Hole._fields},
        orient="row",
    )


def describe_hole(row: Mapping[str, Any]) -> str:
    """Describe in words which transactions a trial's database lacks, and which later one it has."""
    first, last = row["hole_first"], row["hole_last"]
    gone = f"transaction {first} is" if first == last else f"transactions {first} to {last} are"
    return f"{gone} gone, and {row['hole_there']} is there"
