"""Generate rows and transactions of workloads/workloads/partsupply.c: inserts, updates, update batches."""

from collections.abc import Iterator
from typing import Any

from model.workloads import Operation, Options, Phase

PHASES = ("insert", "update", "batch")
TABLE = "partsupply"
TEXTS = {
    "insert": "INSERT INTO partsupply VALUES(%k,15000,1000,9999,771.64,%v);",
    "update": "UPDATE partsupply SET ps_comment=%v WHERE ps_key=%k;",
    "delete": "DELETE FROM partsupply WHERE ps_key=%k;",
    "read": "SELECT ps_comment FROM partsupply WHERE ps_key=%k;",
}
_BATCH = 2000


def transactions(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a phase. Raises ValueError if a row is missing."""
    size = min(_BATCH, phase.last_key) if phase.name == "batch" else 1
    letter = {"insert": b"i", "update": b"u", "batch": b"b"}[phase.name]
    for number in range(phase.options.n):
        value = _value(letter, number, phase.options.value_size)
        if phase.name == "insert":
            yield (Operation("insert", phase.last_key + 1 + number, value),)
            continue
        keys = dict[int, None]()
        while len(keys) < size:
            keys[1 + phase.random.below(phase.last_key)] = None
        yield tuple(Operation("update", key, value) for key in keys)


def filled(options: Options) -> Iterator[tuple[int, bytes]]:
    """Yield the rows before a run."""
    for number in range(options.rows):
        yield 1 + number, _value(b"i", number, options.value_size)


def row(key: int, value: Any) -> tuple[Any, ...]:
    """Return the columns of a row."""
    return key, 15000, 1000, 9999, 771.64, value


def _value(letter: bytes, number: int, size: int) -> bytes:
    digits = b"%08d" % number
    return digits + letter * (size - len(digits))
