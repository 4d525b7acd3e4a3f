"""Rows and SQL of the table `sample`, which several workloads share (workloads/workloads/sample.c)."""

from collections.abc import Iterator
from typing import Any

from model.workloads import Operation, Options, Phase

TABLE = "sample"
TEXTS = {
    "insert": "INSERT INTO sample(value) VALUES(%v);",
    "update": "UPDATE sample SET value=%v WHERE id=%k;",
    "delete": "DELETE FROM sample WHERE id=%k;",
    "read": "SELECT value FROM sample WHERE id=%k;",
}


def inserts(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield n inserts after the last key."""
    value = b"i" * phase.options.value_size
    for number in range(phase.options.n):
        yield (Operation("insert", phase.last_key + 1 + number, value),)


def filled(options: Options) -> Iterator[tuple[int, bytes]]:
    """Yield the rows before a run."""
    for key in range(1, options.rows + 1):
        yield key, b"i" * options.value_size


def row(key: int, value: Any) -> tuple[Any, ...]:
    """Return the columns of a row."""
    return key, value
