"""Workloads computed on the host: the transactions that the driver executes with the same options.

A module has the name of a driver's workload and makes what workloads/workloads/<name>.c makes;
tests/driver/test_made_again.py compares the two. Workloads without a module are not verified.
"""

import functools
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from model import operations

_WORD = (1 << 64) - 1


class Options(NamedTuple):
    """The driver's options, by their names in config.json."""

    rows: int
    n: int
    value_size: int
    seed: int


class Operation(NamedTuple):
    """An operation on one key."""

    kind: str  # operations.py
    key: int
    value: bytes = b""


class Random:
    """splitmix64, as workloads/prng.h has it."""

    def __init__(self, seed: int, stream: int) -> None:
        self.state = _mixed((seed & _WORD) ^ _mixed(stream + 1))

    def below(self, limit: int) -> int:
        """Return a number in [0, limit). Raises ValueError for a limit below 1."""
        if limit < 1:
            raise ValueError(f"a number below {limit}")
        unfair = (_WORD % limit + 1) % limit
        while (value := self._next()) > _WORD - unfair:
            pass
        return value % limit

    def _next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WORD
        return _mixed(self.state)


def _mixed(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


class Phase(NamedTuple):
    """A phase, for making its transactions."""

    name: str
    options: Options
    last_key: int  # at its begin
    random: Random


class Workload(Protocol):
    """The interface of the modules."""

    # in order: a phase's place is its stream of random numbers
    PHASES: tuple[str, ...]
    # kind of operation → its SQL text, with %k for the key and %v for the value as a literal
    TEXTS: Mapping[str, str]

    def transactions(self, phase: Phase) -> Iterator[tuple[Operation, ...]]:
        """Yield the transactions of a phase. Raises ValueError if there are too few keys."""

    # Only of workloads with known rows (expected_state/oracle.py).
    TABLE: str

    def filled(self, options: Options) -> Iterator[tuple[int, bytes]]:
        """Yield key and value of each row before a run."""

    def row(self, key: int, value: Any) -> tuple[Any, ...]:
        """Return the columns of a row."""


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all workloads with a module."""
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(sorted(stem for stem in stems if not stem.startswith("_")))


def phases(profile: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the phases of a workload's profile; none for SQL, whose groups are in the text.

    A driver workload without a module has those of apsys17.
    """
    if chosen := profile.get("phases"):
        return tuple(chosen)
    name = str(profile["driver_workload"])
    if name == "sql":
        return ()
    workload = by_name(name) or by_name("apsys17")
    return workload.PHASES if workload else ()


def by_name(name: str) -> Workload | None:
    """Return a workload by its name in the driver; None: it has no module."""
    return cast("Workload", importlib.import_module(f"{__name__}.{name}")) if name in names() else None


def transactions(workload: Workload, options: Options, phases: list[str]) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a run of some phases. Raises ValueError for options of no run."""
    last_key = options.rows
    for stream, name in enumerate(workload.PHASES):
        if name in phases:
            inserted = 0
            phase = Phase(name, options, last_key, Random(options.seed, stream))
            for transaction in workload.transactions(phase):
                inserted += sum(operation.kind == "insert" for operation in transaction)
                yield transaction
            last_key += inserted


class Table:
    """The keys of a table that was filled with those from 1 to `rows`.

    adds_missing: an update of a missing key adds it (Engine.ADDS_MISSING).
    """

    def __init__(self, rows: int, adds_missing: bool = False) -> None:
        self.last, self.gone, self.added = rows, set[int](), set[int]()
        self.adds_missing = adds_missing

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.last - len(self.gone) + len(self.added)

    def apply(self, transaction: tuple[Operation, ...]) -> int:
        """Apply a transaction; return the number of rows that it changes."""
        changes = 0
        for kind, key, _ in transaction:
            mutates = operations.kinds()[kind].mutates
            filled = 1 <= key <= self.last
            exists = (filled and key not in self.gone) or key in self.added
            if kind == "insert":
                self.last += 1
            elif kind == "delete" and exists:
                self.gone.add(key) if filled else self.added.discard(key)
            elif mutates and kind != "delete" and not exists and self.adds_missing:
                self.gone.discard(key) if filled else self.added.add(key)
            changes += kind == "insert" or (mutates and (exists or (self.adds_missing and kind != "delete")))
        return changes
