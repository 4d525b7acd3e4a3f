"""Read, write, and pack for the driver a trace of key-value requests; generate its rows and transactions.

docs/reference/traces.md has the format. Keys are integers and values are letters and digits, so that the same
bytes reach an engine with SQL, and one with keys and values.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from model import operations
from model.statements.sqlfile import SqlFileError
from model.workloads import Operation, Options, Phase
from model.workloads.mix import TABLE, TEXTS, row

__all__ = ["PHASES", "TABLE", "TEXTS", "row"]

PHASES = ("requests",)
FIRST = "commitpath requests 1"
# MAX_VALUE_SIZE and MAX_BATCH of workloads/option_table.c
MOST_VALUE, MOST_BATCH = 900_000, 999
# bytes of all values of a trace, which are in memory
MOST_BYTES = 64 << 20
_ROW = "row"
_NUMBER = re.compile("[0-9]{1,19}")
# the last character may be repeated: x*5 is xxxxx
_VALUE = re.compile(r"([0-9A-Za-z]*)([0-9A-Za-z])(?:\*([1-9][0-9]{0,5}))?")


class Requests(NamedTuple):
    """A trace's rows before the run, and its transactions."""

    rows: tuple[Operation, ...]  # inserts
    transactions: tuple[tuple[Operation, ...], ...]

    @property
    def value_size(self) -> int:
        """Return the bytes of the largest value, at least 1."""
        each = (operation for one in (self.rows, *self.transactions) for operation in one)
        return max((len(operation.value) for operation in each), default=0) or 1


# a cell, its plan and each check need the same
@functools.lru_cache(maxsize=8)
def read(text: str) -> Requests:
    """Read a trace of requests. Raises SqlFileError."""
    lines = text.split("\n")
    if lines[0].strip() != FIRST:
        raise SqlFileError(
            f"line 1: a trace of requests begins with the line {FIRST!r}; SQL and traces of it are for "
            "WORKLOAD=sql and WORKLOAD=trace, and engines with SQL"
        )
    rows, transactions, there = list[Operation](), list[tuple[Operation, ...]](), set[int]()
    size = 0
    for number, line in enumerate(lines[1:], 2):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if words[0] == _ROW and not transactions:
                made = tuple(_operations(["insert", *words[1:]]))
                if len(made) > 1:
                    raise ValueError(f"{_ROW} has {len(made)} rows; each has a line of its own")
                rows += made
            else:
                made = tuple(_operations(words))
                transactions.append(made)
            _check(made, there)
            if (size := size + sum(len(one.value) for one in made)) > MOST_BYTES:
                raise ValueError(
                    f"values up to here have {size} bytes; those of a trace have {MOST_BYTES} at most"
                )
        except ValueError as error:
            raise SqlFileError(f"line {number}: {error}") from None
    if not transactions:
        raise SqlFileError("it has no transaction")
    return Requests(tuple(rows), tuple(transactions))


def _operations(words: list[str]) -> Iterator[Operation]:
    """Yield the operations of a line. Raises ValueError."""
    left = iter(words)
    for kind in left:
        if kind not in TEXTS:
            raise ValueError(
                f"{kind!r} is not an operation: {', '.join(TEXTS)}, or {_ROW} before the first transaction"
            )
        key = _number(next(left, ""), f"the key of {kind}", 2**63 - 1)
        if kind == "scan":
            yield Operation(kind, key, rows=_number(next(left, ""), "the rows of scan", 2**31 - 1))
        elif operations.kinds()[kind].mutates and kind != "delete":
            yield Operation(kind, key, _value(next(left, ""), kind))
        else:
            yield Operation(kind, key)


def _check(made: tuple[Operation, ...], there: set[int]) -> None:
    """Raise ValueError for a transaction that some engine cannot execute; add and remove keys."""
    kinds = {operation.kind for operation in made}
    if len(made) > 1 and (len(kinds) > 1 or "read-modify-write" in kinds):
        raise ValueError("the operations of a transaction are all of one kind, and none read-modify-write")
    if len(made) > MOST_BATCH:
        raise ValueError(f"{len(made)} operations in a transaction; there may be {MOST_BATCH}")
    for kind, key, *_ in made:
        if kind == "insert" and key in there:
            raise ValueError(f"insert of key {key}, which is there: a store's update adds a missing key, too")
        if kind == "delete":
            there.discard(key)
        elif operations.kinds()[kind].mutates:
            there.add(key)


def _number(word: str, what: str, most: int) -> int:
    if not _NUMBER.fullmatch(word) or int(word) > most:
        raise ValueError(f"{what} is {word[:40]!r}, not a number from 0 to {most}")
    return int(word)


def _value(word: str, kind: str) -> bytes:
    if not (match := _VALUE.fullmatch(word)):
        raise ValueError(f"the value of {kind} is {word[:40]!r}, not letters and digits, such as 12x*990")
    value = match[1] + match[2] * int(match[3] or 1)
    if len(value) > MOST_VALUE:
        raise ValueError(f"a value of {len(value)} bytes; it has {MOST_VALUE} at most")
    return value.encode()


def _word(value: bytes) -> str:
    """Return a value's word in a trace, the shorter one."""
    text = value.decode()
    short = f"{text.rstrip(text[-1])}{text[-1]}*{len(text) - len(text.rstrip(text[-1]))}"
    return min(text, short, key=len)


def _words(operation: Operation) -> str:
    kind, key, value, rows = operation
    return " ".join([kind, str(key), *([_word(value)] if value else [str(rows)] if kind == "scan" else [])])


def write(requests: Requests, notes: Iterable[str] = ()) -> str:
    """Return a trace's text. notes: comments after the first line."""
    rows = (f"{_ROW} {key} {_word(value)}" for _, key, value, _ in requests.rows)
    each = (" ".join(map(_words, one)) for one in requests.transactions)
    return "".join(f"{line}\n" for line in (FIRST, *(f"# {note}" for note in notes), *rows, *each))


def pack(given: Iterable[tuple[Operation, ...]]) -> bytes:
    """Return transactions for workloads/workloads/requests.c."""
    return b"".join(b"%d\n" % len(one) + b"".join(map(_packed, one)) for one in given)


def _packed(operation: Operation) -> bytes:
    kind, key, value, rows = operation
    if kind == "scan":
        return f"{kind} {key} {rows}\n".encode()
    return f"{kind} {key} {len(value)}\n".encode() + value + b"\n"


def transactions(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a phase."""
    yield from read(phase.options.requests).transactions[: phase.options.n]


def filled(options: Options) -> Iterator[tuple[int, bytes]]:
    """Yield the rows before a run."""
    return ((key, value) for _, key, value, _ in read(options.requests).rows)


def keys(options: Options) -> set[int]:
    """Return the keys before a run."""
    return {key for key, _ in filled(options)}
