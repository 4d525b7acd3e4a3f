"""Generate the transactions of workloads/workloads/mobibench.c: inserts, updates and deletes by row id."""

from collections.abc import Iterator

from model.workloads import Operation, Phase

PHASES = ("insert", "update", "delete")
TEXTS = {
    "insert": "INSERT INTO tblMyList(Value) VALUES(%v);",
    "update": "UPDATE tblMyList SET Value = %v WHERE id = %k;",
    "delete": "DELETE FROM tblMyList WHERE id=%k;",
    "read": "SELECT Value FROM tblMyList WHERE id=%k;",
}


def _value(letters: str) -> bytes:
    return "".join(letter * 10 for letter in letters).encode()


def transactions(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a phase."""
    n = phase.options.n
    inserted, updated = _value("abcdefghij"), _value("fghijabcde")
    for number in range(n):
        if phase.name == "insert":
            yield (Operation("insert", 1 + number, inserted),)
        elif phase.name == "update":
            yield (Operation("update", 1 + phase.random.below(n), updated),)
        else:
            yield (Operation("delete", number),)
