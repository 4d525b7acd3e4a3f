"""Generate rows and transactions of workloads/workloads/kv.c: inserts, updates, reads, batches, deletes."""

from collections.abc import Iterator

from model.workloads import Operation, Phase
from model.workloads._sample import TABLE, TEXTS, filled, inserts, row

__all__ = ["PHASES", "TABLE", "TEXTS", "filled", "row", "transactions"]

PHASES = ("insert", "update", "read", "batch", "delete")
_BATCH = 10
_LETTERS = {"update": b"u", "batch": b"b"}


def transactions(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a phase."""
    if phase.name == "insert":
        yield from inserts(phase)
        return
    value = _LETTERS.get(phase.name, b"") * phase.options.value_size
    size, kind = (_BATCH, "update") if phase.name == "batch" else (1, phase.name)
    for _ in range(phase.options.n):
        first = 1 + phase.random.below(phase.last_key - size + 1)
        yield tuple(Operation(kind, first + number, value) for number in range(size))
