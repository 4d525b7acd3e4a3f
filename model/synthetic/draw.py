"""Which rows each transaction of a synthetic trace reads or writes."""

import bisect
import itertools
from typing import NamedTuple, TypeVar

from model.statements.sqlfile import SqlFileError
from model.synthetic.spec import BESIDES, Spec, rows_before
from model.synthetic.spec import shares as shares_of
from model.workloads import Random

# Streams of random numbers, one for each thing that is drawn.
KINDS, SIZES, PAGES, GROWTH, TEXTS, TURNS = range(6)
_Item = TypeVar("_Item")


class Made(NamedTuple):
    """A transaction: the rows that each of its statements writes; of one that reads, the row of each."""

    batch: bool
    reads: bool
    statements: list[list[int]]
    makes: bool  # its first statement makes its only row


class Drawn(NamedTuple):
    """Where the random numbers of a database's trace are from."""

    seed: int
    database: int

    def stream(self, stream: int) -> Random:
        """Return those of a stream."""
        return Random(self.seed, stream + self.database * (TURNS + 1))


def turns(spec: Spec, seed: int) -> list[int]:
    """Return of which database each transaction is: in any order."""
    numbers = [number for number, one in enumerate(shares_of(spec)) for _ in range(one.transactions)]
    return shuffled(Random(seed, TURNS), numbers) if spec.databases > 1 else numbers


def transactions(spec: Spec, drawn: Drawn) -> list[Made]:
    """Return the transactions of a database, in their order. Raises SqlFileError for measures that no trace
    has."""
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
    """Return (whether it is a batch, whether it only reads) of each; those of one statement read first."""
    reads = spec.transactions - spec.updates
    alone = min(reads, spec.alone)
    found = [(False, i < alone) for i in range(spec.alone)]
    found += [(True, i < reads - alone) for i in range(spec.batches)]
    return shuffled(drawn.stream(KINDS), found)


def shares(draw: Random, total: int, parts: int) -> list[int]:
    """Return parts of a number, none of them 0."""
    found = [1] * parts
    for _ in range(total - parts):
        found[draw.below(parts)] += 1
    return found


def written_rows(spec: Spec, drawn: Drawn, counts: list[int]) -> tuple[list[list[int]], set[int]]:
    """Return the rows that each transaction writes, and the transactions that make their only row.

    Those that are written together are near each other in an order that the writes go through once, as
    each page of an app has its time. Rows that the database is too small for are made at theirs.
    """
    first = rows_before(spec)
    grown = max(0, spec.pages - first - 2)
    draw, makes = drawn.stream(PAGES), growth(spec, drawn, counts, grown)
    order = shuffled(draw, list(range(1, first + 1)))[: spec.pages - grown - 2 * bool(grown)]
    for row, number in enumerate(sorted(makes), first + 1):
        order.insert(sum(counts[:number]) * spec.pages // spec.page_writes, row)
    weights = list(itertools.accumulate((rank + 1) ** -spec.skew for rank in range(len(order))))
    found, last, written = list[list[int]](), first, 0
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
        found.append(list(chosen))
        written += count
    cover(draw, found, order, first)
    return found, makes


def shuffled(draw: Random, given: list[_Item]) -> list[_Item]:
    """Return a list in another order."""
    for i in range(len(given) - 1, 0, -1):
        j = draw.below(i + 1)
        given[i], given[j] = given[j], given[i]
    return given


def growth(spec: Spec, drawn: Drawn, counts: list[int], grown: int) -> set[int]:
    """Return the transactions that make a row: of those that write as many pages as that takes."""
    able = [number for number, count in enumerate(counts) if count == 1 + BESIDES]
    if grown > len(able):
        raise SqlFileError(
            f"{spec.title}: {grown} pages are to come, and {len(able)} transactions write {1 + BESIDES} pages"
        )
    return set(shuffled(drawn.stream(GROWTH), able)[:grown])


def cover(draw: Random, chosen: list[list[int]], order: list[int], first: int) -> None:
    """Have each row written, in the place of one that is written elsewhere, too."""
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
