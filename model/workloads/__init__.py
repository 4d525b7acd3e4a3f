"""Workloads, made again on the host: what a seed, a number of rows and a size of values make of one.

A module here that is named after a workload of the driver does what workloads/workloads/<name>.c does;
tests/driver/test_again.py compares the two. Nothing lists them. What no module makes again is believed.
"""

from __future__ import annotations

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
    """What a statement or a call does to one key."""

    kind: str  # operations.py
    key: int
    value: bytes = b""


class Phase(NamedTuple):
    """What the transactions of a phase are made from."""

    name: str
    options: Options
    last_key: int  # the largest there is when it begins
    random: Random


class Workload(Protocol):
    """What each module of this folder has."""

    # in their order: a phase's place in it is its stream of random numbers
    PHASES: tuple[str, ...]
    # kind of operation → its SQL text, with %k for the key and %v for the value as a literal
    TEXTS: Mapping[str, str]

    def transactions(self, phase: Phase) -> Iterator[tuple[Operation, ...]]:
        """Yield the transactions of a phase. Raises ValueError where there are too few keys."""

    # Of one whose table is known whole, row by row (expected_state/oracle.py); the others have none of these.
    TABLE: str

    def filled(self, options: Options) -> Iterator[tuple[int, bytes]]:
        """Yield key and value of each row that there is before a run."""

    def row(self, key: int, value: Any) -> tuple[Any, ...]:
        """Return the columns of a row."""


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


@functools.cache
def names() -> tuple[str, ...]:
    """Return the workloads that are made again."""
    return tuple(
        sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
    )


def phases(profile: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the phases that a workload's profile runs; none of SQL texts, whose groups are in the texts.

    A driver workload without a module here has those of apsys17.
    """
    if chosen := profile.get("phases"):
        return tuple(chosen)
    name = str(profile["driver_workload"])
    if name == "sql":
        return ()
    workload = by_name(name) or by_name("apsys17")
    return workload.PHASES if workload else ()


def by_name(name: str) -> Workload | None:
    """Return a workload by the driver's name of it; None: it is not made again."""
    return cast("Workload", importlib.import_module(f"{__name__}.{name}")) if name in names() else None


def transactions(workload: Workload, options: Options, phases: list[str]) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a run of some phases. Raises ValueError where no run has such options."""
    last_key = options.rows
    for stream, name in enumerate(workload.PHASES):
        if name in phases:
            inserted = 0
            for one in workload.transactions(Phase(name, options, last_key, Random(options.seed, stream))):
                inserted += sum(operation.kind == "insert" for operation in one)
                yield one
            last_key += inserted


class Table:
    """Which keys there are: of a table that was filled with those from 1 on.

    adds_missing: an update of a key that is not there adds it (Engine.ADDS_MISSING).
    """

    def __init__(self, rows: int, adds_missing: bool = False) -> None:
        self.last, self.gone, self.added = rows, set[int](), set[int]()
        self.adds_missing = adds_missing

    @property
    def rows(self) -> int:
        """How many."""
        return self.last - len(self.gone) + len(self.added)

    def apply(self, transaction: tuple[Operation, ...]) -> int:
        """Return how many rows a transaction changes."""
        changes = 0
        for kind, key, _ in transaction:
            mutates = operations.kinds()[kind].mutates
            filled = 1 <= key <= self.last
            there = (filled and key not in self.gone) or key in self.added
            if kind == "insert":
                self.last += 1
            elif kind == "delete" and there:
                self.gone.add(key) if filled else self.added.discard(key)
            elif mutates and kind != "delete" and not there and self.adds_missing:
                self.gone.discard(key) if filled else self.added.add(key)
            changes += kind == "insert" or (mutates and (there or (self.adds_missing and kind != "delete")))
        return changes
