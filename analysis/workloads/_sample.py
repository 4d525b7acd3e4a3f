"""The table `sample` of workloads/workloads/sample.c."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.workloads import Operation, Phase

TEXTS = {
    "insert": "INSERT INTO sample(value) VALUES(%v);",
    "update": "UPDATE sample SET value=%v WHERE id=%k;",
    "delete": "DELETE FROM sample WHERE id=%k;",
    "read": "SELECT value FROM sample WHERE id=%k;",
}


def inserts(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield n inserts behind the last key."""
    value = b"i" * phase.options.value_size
    for number in range(phase.options.n):
        yield (Operation("insert", phase.last_key + 1 + number, value),)
