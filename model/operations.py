"""Kinds of database operations (insert, read, …): whether they change rows, their colours; class Transaction.

They are from workloads/operations.yml.
"""

import functools
from typing import Any, NamedTuple

from base.data import load_yaml
from base.paths import ROOT

PATH = ROOT / "workloads/operations.yml"

# Names of groups of SQL begin with a kind, or with one of these words.
_WORDS = {"select": "read"}


class Kind(NamedTuple):
    """A kind of operation: a line of workloads/operations.yml."""

    mutates: bool
    reads: bool
    rows: int  # added to the number of rows by each changed row
    color: str
    dash: str | tuple[float, ...]  # of a line: lengths in points

    @property
    def line_style(self) -> Any:
        """Return the dash in matplotlib's form."""
        return self.dash if isinstance(self.dash, str) else (0, self.dash)


class Transaction(NamedTuple):
    """The kinds of a transaction's operations, and the bytes of its values."""

    operations: tuple[str, ...]  # insert, update, delete, read; in SQL also create and drop
    batch: bool  # several operations, all or none; else a single one
    values: int = 0  # bytes of their column values, without keys


@functools.cache
def kinds() -> dict[str, Kind]:
    """Return the kinds by name; a kind's place is its number in the driver."""
    table = load_yaml(PATH)
    return {
        name: Kind(**row | {"dash": row["dash"] if isinstance(row["dash"], str) else tuple(row["dash"])})
        for name, row in table.items()
    }


def kind_name(op: str) -> str:
    """Return the kind of an `op` of transactions.csv: itself, the beginning of a group's name, or `sql`."""
    if op in kinds():
        return op
    word = op.partition("_")[0]
    word = _WORDS.get(word, word)
    return word if word in kinds() else "sql"


def colors() -> dict[str, str]:
    """Return the color of each kind."""
    return {name: kind.color for name, kind in kinds().items()}


def color(op: str) -> str:
    """Return the color of the kind of an `op`."""
    return kinds()[kind_name(op)].color


def changing_rows() -> tuple[str, ...]:
    """Return the kinds that change the number of rows."""
    return tuple(name for name, kind in kinds().items() if kind.rows)
