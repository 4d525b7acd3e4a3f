"""Find a hole in a recovered database: a later transaction is there, and an earlier one is gone.

An engine may lose the last transactions, as far as it does not promise them. A hole is never allowed. It is
found as one gap: the transactions before it and some after it give the content, without those in it. Such
gaps are what an engine leaves that recovers a later log without the end of an earlier one, or that goes on
behind a damaged part of a log.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import polars as pl

from model.cell import Cell
from model.expected_state import oracle

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


def find(
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


def of_trials(
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
    found = find(cell, phases, {one for one in unlike if one}, writers)
    holes = [found.get(one) if one else None for one in unlike]
    return pl.DataFrame(
        [hole or (None, None, None) for hole in holes],
        schema={f"hole_{name}": pl.Int64 for name in Hole._fields},
        orient="row",
    )


def describe(row: Mapping[str, Any]) -> str:
    """Describe in words which transactions a trial's database lacks, and which later one it has."""
    first, last = row["hole_first"], row["hole_last"]
    gone = f"transaction {first} is" if first == last else f"transactions {first} to {last} are"
    return f"{gone} gone, and {row['hole_there']} is there"
