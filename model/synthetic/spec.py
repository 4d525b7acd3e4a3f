"""The measures of a trace, as experiments/workload/ has them (`synthetic`)."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

from model.statements.sqlfile import MOST_DATABASES, SqlFileError

PAGE = 4096
# Pages that one above them has, in a table that grew at its end.
CHILDREN = 500
# An INSERT behind the last row writes, beside its page, the one above it and the header.
BESIDES = 2
# Of any measure, and of the bytes of all SQL: a stored cell may ask for what no machine makes.
_MOST, _MOST_SQL = 10**6, 2**30
# What several databases share.
_COUNTED = ("batches", "alone", "statements", "updates", "page_writes", "pages")


class Spec(NamedTuple):
    """The measures; those of a transaction and of a checkpoint are means."""

    title: str
    files: int  # of the study's
    megabytes: float  # of the database, before
    batches: int  # transactions from BEGIN to COMMIT
    alone: int  # and of one statement
    statements: int  # of all batches
    updates: int  # transactions that write
    page_writes: int  # each page once in a transaction
    pages: int  # that are written at all
    sql_bytes: int  # of the statements that write, in a transaction that does
    checkpoints: int  # between which as many pages are written
    dirty_pages: float  # and so many of them are different ones
    skew: float  # exponent of Zipf's law: how near to each other those are that follow each other
    databases: int = 1  # over which all of that is divided here

    @property
    def transactions(self) -> int:
        """Return how many there are."""
        return self.batches + self.alone


def from_profile(profile: Mapping[str, Any]) -> Spec:
    """Return the measures that a profile has; `told` is what the study says besides."""
    return Spec(**{name: value for name, value in profile.items() if name != "told"})


def shares(spec: Spec) -> list[Spec]:
    """Return what each of its databases has: of what is counted the same, to one; means are those of all."""

    def share(total: int, number: int) -> int:
        return total * (number + 1) // spec.databases - total * number // spec.databases

    def one(number: int) -> Spec:
        counted: dict[str, Any] = {name: share(getattr(spec, name), number) for name in _COUNTED}
        return spec._replace(megabytes=spec.megabytes / spec.databases, databases=1, **counted)

    return [one(number) for number in range(spec.databases)]


def rows_before(spec: Spec) -> int:
    """Return how many rows make a database of that size: a page each, the tree above them, a header."""
    leaves = round(spec.megabytes * 1e6 / PAGE) - 2
    return leaves if leaves < CHILDREN else leaves - 1 - leaves // CHILDREN


def check(spec: Spec) -> None:
    """Raise SqlFileError for what is no measure, or measures that contradict each other, in any of its
    databases."""
    for name, kind in get_type_hints(Spec).items():
        value, most = getattr(spec, name), MOST_DATABASES if name == "databases" else _MOST
        if not isinstance(value, (int, float) if kind is float else kind) or (
            kind is not str and not 0 <= value <= most
        ):
            raise SqlFileError(f"{name}: {str(value)[:40]!r} is none of 0 to {most}")
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
