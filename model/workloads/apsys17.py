"""Generate rows and transactions of workloads/workloads/apsys17.c: single inserts, updates and deletes."""

from collections.abc import Iterator

from model.workloads import Operation, Phase
from model.workloads._sample import TABLE, TEXTS, filled, inserts, row

__all__ = ["PHASES", "TABLE", "TEXTS", "filled", "row", "transactions"]

PHASES = ("insert", "update", "delete")


def transactions(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a phase."""
    if phase.name == "insert":
        yield from inserts(phase)
        return
    value = b"u" * phase.options.value_size if phase.name == "update" else b""
    for _ in range(phase.options.n):
        yield (Operation(phase.name, phase.random.below(max(phase.last_key, 1)), value),)
