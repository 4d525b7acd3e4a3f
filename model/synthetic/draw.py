"""Check a synthetic trace's measures; draw its transactions: the rows that each statement reads or writes."""

import bisect
import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar, get_type_hints

from model.statements.sqlfile import MOST_DATABASES, SqlFileError
from model.workloads import Random

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
        """Return the number of transactions: batches and single statements."""
        return self.batches + self.alone


def from_profile(profile: Mapping[str, Any]) -> Spec:
    """Return the measures of a profile without `told`, the study's numbers that are not fitted."""
    return Spec(**{name: value for name, value in profile.items() if name != "told"})


def shares_of(spec: Spec) -> list[Spec]:
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
        for one in shares_of(spec):
            check(one)
        return
    for more, less, why in (
        (spec.transactions, spec.updates, "transactions are fewer than updates"),
        (spec.page_writes, spec.updates, "page_writes are fewer than updates"),
        (spec.page_writes, spec.pages, "page_writes are fewer than pages"),
        (spec.statements, spec.batches, "statements are fewer than batches"),
        (rows_before(spec), 2, "rows of a database of that size, and it has a few"),
    ):
        if less > more:
            raise SqlFileError(f"{spec.title}: {more} {why}: {less}")


# Streams of random numbers.
KINDS, SIZES, PAGES, GROWTH, TEXTS, TURNS = range(6)
_Item = TypeVar("_Item")


class Made(NamedTuple):
    """A transaction. statements: the rows that each writes, or the row that each reads."""

    batch: bool
    reads: bool
    statements: list[list[int]]
    makes: bool  # its first statement inserts its only row


class Drawn(NamedTuple):
    """The source of a database's random numbers."""

    seed: int
    database: int

    def stream(self, stream: int) -> Random:
        """Return the numbered stream of random numbers of this database."""
        return Random(self.seed, stream + self.database * (TURNS + 1))


def turns(spec: Spec, seed: int) -> list[int]:
    """Return the database of each transaction, in random order."""
    numbers = [number for number, one in enumerate(shares_of(spec)) for _ in range(one.transactions)]
    return shuffled(Random(seed, TURNS), numbers) if spec.databases > 1 else numbers


def transactions(spec: Spec, drawn: Drawn) -> list[Made]:
    """Return the transactions of a database in order. Raises SqlFileError for impossible measures."""
    shapes, draw = kinds(spec, drawn), drawn.stream(SIZES)
    statements = iter(shares(draw, spec.statements, spec.batches))
    counts = iter(shares(draw, spec.page_writes, spec.updates))
    lengths = [next(statements) if batch else 1 for batch, _ in shapes]
    chosen, makes = written_rows(spec, drawn, [0 if reads else next(counts) for _, reads in shapes])
    made = list[Made]()
    for number, ((batch, reads), length, rows) in enumerate(zip(shapes, lengths, chosen, strict=True)):
        if reads:
            each = [[1 + (number + i) % rows_before(spec)] for i in range(length)]
        elif len(rows) >= length:
            each = [rows[i::length] for i in range(length)]
        else:
            each = [[rows[i % len(rows)]] for i in range(length)]
        made.append(Made(batch, reads, each, number in makes))
    return made


def kinds(spec: Spec, drawn: Drawn) -> list[tuple[bool, bool]]:
    """Return (batch, reads only) of each transaction; those of one statement are the first to read."""
    reads = spec.transactions - spec.updates
    alone = min(reads, spec.alone)
    singles = [(False, i < alone) for i in range(spec.alone)]
    return shuffled(drawn.stream(KINDS), singles + [(True, i < reads - alone) for i in range(spec.batches)])


def shares(draw: Random, total: int, parts: int) -> list[int]:
    """Divide a number at random into parts of at least 1."""
    sizes = [1] * parts
    for _ in range(total - parts):
        sizes[draw.below(parts)] += 1
    return sizes


def written_rows(spec: Spec, drawn: Drawn, counts: list[int]) -> tuple[list[list[int]], set[int]]:
    """Return the rows that each transaction writes, and the transactions that insert their only row.

    Rows written together are near each other in an order that the writes traverse once, as an app uses each
    page for a time. Rows that the initial database lacks are inserted in this order, too.
    """
    first = rows_before(spec)
    grown = max(0, spec.pages - first - 2)
    draw, makes = drawn.stream(PAGES), growth(spec, drawn, counts, grown)
    order = shuffled(draw, list(range(1, first + 1)))[: spec.pages - grown - 2 * bool(grown)]
    for row, number in enumerate(sorted(makes), first + 1):
        order.insert(sum(counts[:number]) * spec.pages // spec.page_writes, row)
    weights = list(itertools.accumulate((rank + 1) ** -spec.skew for rank in range(len(order))))
    rows, last, written = list[list[int]](), first, 0
    for number, count in enumerate(counts):
        last += number in makes
        chosen = {last: None} if number in makes else dict[int, None]()
        if count > len(order) - first - grown + last:
            raise SqlFileError(f"{spec.title}: a transaction of {count} pages, of {len(order)}")
        here = written * len(order) // spec.page_writes
        while len(chosen) < (1 if number in makes else count):
            rank = bisect.bisect(weights, draw.below(1 << 53) / (1 << 53) * weights[-1])
            row = order[(here + (rank // 2 if rank % 2 else -rank // 2)) % len(order)]
            if row <= last:
                chosen[row] = None
        rows.append(list(chosen))
        written += count
    cover(draw, rows, order, first)
    return rows, makes


def shuffled(draw: Random, given: list[_Item]) -> list[_Item]:
    """Shuffle a list and return it."""
    for i in range(len(given) - 1, 0, -1):
        j = draw.below(i + 1)
        given[i], given[j] = given[j], given[i]
    return given


def growth(spec: Spec, drawn: Drawn, counts: list[int], grown: int) -> set[int]:
    """Return the transactions that insert a row: some of those that write as many pages as an insert."""
    able = [number for number, count in enumerate(counts) if count == 1 + BESIDES]
    if grown > len(able):
        raise SqlFileError(
            f"{spec.title}: {grown} pages are to come, and {len(able)} transactions write {1 + BESIDES} pages"
        )
    return set(shuffled(drawn.stream(GROWTH), able)[:grown])


def cover(draw: Random, chosen: list[list[int]], order: list[int], first: int) -> None:
    """Have each row written, instead of one that is also written elsewhere."""
    often = dict.fromkeys(order, 0)
    for row in itertools.chain.from_iterable(chosen):
        often[row] += 1
    places = [(i, j) for i, one in enumerate(chosen) for j, row in enumerate(one) if row <= first]
    for row in [row for row in order if not often[row]]:
        i, j = places[draw.below(len(places))]
        while often[chosen[i][j]] < 2:
            i, j = places[draw.below(len(places))]
        often[chosen[i][j]] -= 1
        often[row] = 1
        chosen[i][j] = row
