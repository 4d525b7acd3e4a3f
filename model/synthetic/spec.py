"""Read and check the measures that a synthetic trace must have (`synthetic` in experiments/workload/)."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

from model.statements.sqlfile import MOST_DATABASES, SqlFileError

PAGE = 4096
# Child pages of an interior page, in a table that grew at its end.
CHILDREN = 500
# Further pages that an INSERT after the last row writes: the parent and the header.
BESIDES = 2
# Limits of any measure, and of the bytes of all SQL: a stored cell may have any.
_MOST, _MOST_SQL = 10**6, 2**30
# Measures that are divided among several databases.
_COUNTED = ("batches", "alone", "statements", "updates", "page_writes", "pages")


class Spec(NamedTuple):
    """The measures; those of a transaction and of a checkpoint are means."""

    title: str
    files: int  # in the study
    megabytes: float  # of the database, before
    batches: int  # transactions from BEGIN to COMMIT
    alone: int  # transactions of one statement
    statements: int  # of all batches
    updates: int  # transactions that write
    page_writes: int  # each page once in a transaction
    pages: int  # distinct pages that are written
    sql_bytes: int  # of the writing statements of an updating transaction
    checkpoints: int  # with an equal number of page writes between them
    dirty_pages: float  # distinct pages between two of them
    skew: float  # exponent of Zipf's law for the distance of successive pages
    databases: int = 1  # among which all of this is divided here

    @property
    def transactions(self) -> int:
        """Return the number of transactions."""
        return self.batches + self.alone


def from_profile(profile: Mapping[str, Any]) -> Spec:
    """Return the measures of a profile without `told`, the study's numbers that are not fitted."""
    return Spec(**{name: value for name, value in profile.items() if name != "told"})


def shares(spec: Spec) -> list[Spec]:
    """Return the measures of each database: equal counts, except for 1, and the means of all."""

    def share(total: int, number: int) -> int:
        return total * (number + 1) // spec.databases - total * number // spec.databases

    each = spec._asdict() | {"megabytes": spec.megabytes / spec.databases, "databases": 1}
    return [
        Spec(**each | {name: share(getattr(spec, name), number) for name in _COUNTED})
        for number in range(spec.databases)
    ]


def rows_before(spec: Spec) -> int:
    """Return the number of rows in a database of this size: a page each, interior pages, a header."""
    leaves = round(spec.megabytes * 1e6 / PAGE) - 2
    return leaves if leaves < CHILDREN else leaves - 1 - leaves // CHILDREN


def check(spec: Spec) -> None:
    """Raise SqlFileError for invalid or contradictory measures of any of its databases."""
    for name, kind in get_type_hints(Spec).items():
        value, most = getattr(spec, name), MOST_DATABASES if name == "databases" else _MOST
        if not isinstance(value, (int, float) if kind is float else kind) or (
            kind is not str and not 0 <= value <= most
        ):
            raise SqlFileError(f"{name}: {str(value)[:40]!r} is not from 0 to {most}")
    if spec.updates * spec.sql_bytes > _MOST_SQL:
        raise SqlFileError(
            f"{spec.updates} updates of {spec.sql_bytes} sql_bytes: more than {_MOST_SQL} bytes"
        )
    if spec.databases > 1:
        for one in shares(spec):
            check(one)
        return
    for more, less, why in (
        (spec.transactions, spec.updates, "transactions, of which updates write"),
        (spec.page_writes, spec.updates, "page_writes, of which each of updates has one"),
        (spec.page_writes, spec.pages, "page_writes, of which each of pages is one"),
        (spec.statements, spec.batches, "statements, of which each of batches has one"),
        (rows_before(spec), 2, "rows of a database of that size, and it has a few"),
    ):
        if less > more:
            raise SqlFileError(f"{spec.title}: {more} {why}: {less}")
