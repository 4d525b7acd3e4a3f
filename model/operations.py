"""Operations and their kinds, from the table that the driver is built with (workloads/operations.yml)."""

import functools
from typing import Any, NamedTuple

from base.data import load_yaml
from base.paths import ROOT

PATH = ROOT / "workloads/operations.yml"

# Groups of a workload of SQL texts begin with a kind's name, or with one of SQL's words.
_WORDS = {"select": "read"}


class Kind(NamedTuple):
    """A line of the table."""

    mutates: bool
    reads: bool
    rows: int  # that each row it changes adds to the number there is
    color: str
    dash: str | tuple[float, ...]  # of a line: lengths in points

    @property
    def line_style(self) -> Any:
        """Return the dash as matplotlib has it."""
        return self.dash if isinstance(self.dash, str) else (0, self.dash)


class Transaction(NamedTuple):
    """What a transaction does."""

    operations: tuple[str, ...]  # insert, update, delete, read; of SQL also create and drop
    batch: bool  # they are all or none; else it is one operation, by itself
    values: int = 0  # bytes of the column values that they carry; a key to find or to make a row by is none


@functools.cache
def kinds() -> dict[str, Kind]:
    """Return the kinds by name, in their order: the place of one is its number in the driver."""
    table = load_yaml(PATH)
    return {
        name: Kind(**row | {"dash": row["dash"] if isinstance(row["dash"], str) else tuple(row["dash"])})
        for name, row in table.items()
    }


def kind_name(op: str) -> str:
    """Return the kind of an `op` of transactions.csv: itself, what a group's name begins with, or `sql`."""
    if op in kinds():
        return op
    word = op.partition("_")[0]
    word = _WORDS.get(word, word)
    return word if word in kinds() else "sql"


def colors() -> dict[str, str]:
    """Return the color of each kind."""
    return {name: kind.color for name, kind in kinds().items()}


def color(op: str) -> str:
    """Return the color of an `op`."""
    return kinds()[kind_name(op)].color


def changing_rows() -> tuple[str, ...]:
    """Return the kinds that change how many rows there are."""
    return tuple(name for name, kind in kinds().items() if kind.rows)
