"""Generate a workload's transactions in Python exactly as the C driver does: interface, random numbers, keys.

A module has the name of a driver's workload and makes what workloads/workloads/<name>.c makes;
tests/driver/test_made_again.py compares the two. Recorded runs are compared with them, and expected databases
computed from them. Workloads without a module are not verified.
"""

import functools
import importlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from model import operations
from model.cell import Cell

_WORD = (1 << 64) - 1


class Options(NamedTuple):
    """The driver's options, by their names in config.json."""

    rows: int
    n: int
    value_size: int
    seed: int
    # of a mix of operations; runs of before it have none
    mix: str = ""
    request_distribution: str = "uniform"
    insert_order: str = "ordered"
    value_size_distribution: str = "constant"
    batch: int = 1
    # of `requests`: the text of its trace, which the cell has and not config.json
    requests: str = ""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Options":
        """Return the options in a mapping by their names. Raises ValueError if one is missing or mistyped."""
        names = set(cls._fields) & document.keys()
        if missing := set(cls._fields) - names - cls._field_defaults.keys():
            raise ValueError(f"{min(missing)} is missing")
        for name in names:
            if type(document[name]) is not (kind := cls.__annotations__[name]):
                raise ValueError(f"{name} {document[name]!r} is not {'a number' if kind is int else 'text'}")
        return cls(**{name: document[name] for name in names})


class Operation(NamedTuple):
    """An operation on one key, or on a range of keys."""

    kind: str  # operations.py
    key: int
    value: bytes = b""
    rows: int = 0  # of a scan: the most that it returns, from the key on


class Random:
    """A stream of splitmix64, as in workloads/prng.h."""

    def __init__(self, seed: int, stream: int) -> None:
        self.state = self.mixed((seed & _WORD) ^ self.mixed(stream + 1))

    def below(self, limit: int) -> int:
        """Return a number in [0, limit). Raises ValueError for a limit below 1."""
        if limit < 1:
            raise ValueError(f"a number below {limit}")
        unfair = (_WORD % limit + 1) % limit
        while (value := self.next()) > _WORD - unfair:
            pass
        return value % limit

    def next(self) -> int:
        """Return the next number of 64 bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WORD
        return self.mixed(self.state)

    @staticmethod
    def mixed(z: int) -> int:
        """Return the image of a number of 64 bits in a permutation of them (prng_mix)."""
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        return z ^ (z >> 31)


class Phase(NamedTuple):
    """A phase of a run: its options, last key and random numbers, from which its transactions follow."""

    name: str
    options: Options
    last_key: int  # at its begin
    random: Random


class Workload(Protocol):
    """The interface of this package's modules."""

    # in order: a phase's place is its stream of random numbers
    PHASES: tuple[str, ...]
    # kind of operation → its SQL text, with %k for the key, %v for the value as a literal, %n for the rows
    TEXTS: Mapping[str, str]

    def transactions(self, phase: Phase) -> Iterator[tuple[Operation, ...]]:
        """Yield the transactions of a phase. Raises ValueError if there are too few keys."""

    # Only of workloads with other keys than 1 to `rows` before a run.
    def keys(self, options: Options) -> Collection[int]:
        """Return the keys before a run."""

    # Only of workloads with known rows (expected_state/oracle.py).
    TABLE: str

    def filled(self, options: Options) -> Iterator[tuple[int, bytes]]:
        """Yield key and value of each row before a run."""

    def row(self, key: int, value: Any) -> tuple[Any, ...]:
        """Return the columns of a row."""


def options(cell: Cell) -> Options:
    """Return the driver's options of a cell."""
    axes = {name: cell.value(name) for name in Options._fields if name not in ("mix", "requests")}
    requests = str(cell.profiles.get("file", {}).get("requests", ""))
    return Options(**axes, mix=mix_option(cell.profiles["workload"]), requests=requests)


def mix_option(profile: Mapping[str, Any]) -> str:
    """Return the driver's --mix of a workload's profile, such as read=95,insert=5; empty without one."""
    return ",".join(f"{kind}={share}" for kind, share in sorted(profile.get("mix", {}).items()))


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all workloads with a module."""
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(sorted(stem for stem in stems if not stem.startswith("_")))


def phases(profile: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the phases of a workload's profile; none for SQL: its groups are in the text.

    A driver workload without a module has those of apsys17.
    """
    if chosen := profile.get("phases"):
        return tuple(chosen)
    name = str(profile["driver_workload"])
    if name == "sql":
        return ()
    workload = by_name(name) or by_name("apsys17")
    return workload.PHASES if workload else ()


def ops(profile: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the `op`s in transactions.csv of a workload's profile; none for a user's file."""
    if profile.get("requests"):
        return ()
    if mixed := profile.get("mix"):
        return tuple(kind for kind in operations.kinds() if kind in mixed)
    return phases(profile)


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


def table(workload: Workload, options: Options, adds_missing: bool = False) -> "Table":
    """Return the keys of a workload's table before a run."""
    filled = workload.keys(options) if hasattr(workload, "keys") else range(1, options.rows + 1)
    return Table(filled, adds_missing)


class Table:
    """The keys of a table.

    filled: those before a run. adds_missing: an update of a missing key adds it (Engine.ADDS_MISSING).
    """

    def __init__(self, filled: Collection[int], adds_missing: bool = False) -> None:
        self.filled, self.gone, self.added = filled, set[int](), set[int]()
        self.adds_missing = adds_missing

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.filled) - len(self.gone) + len(self.added)

    def apply(self, transaction: tuple[Operation, ...]) -> int:
        """Apply a transaction; return the number of rows that it changes."""
        changes = 0
        for kind, key, *_ in transaction:
            filled, adds = key in self.filled, kind == "insert" or (self.adds_missing and kind != "delete")
            exists = (filled and key not in self.gone) or key in self.added
            if not operations.kinds()[kind].mutates or not (exists or adds):
                continue
            changes += 1
            if kind == "delete" and exists:
                self.gone.add(key) if filled else self.added.discard(key)
            elif not exists:
                self.gone.discard(key) if filled else self.added.add(key)
        return changes
