"""Class Engine: a storage engine's files, settings, calls, promises; find engines, their axes, file roles."""

import functools
import importlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import polars as pl

from base.data import load_yaml
from base.identity import FIRST_ENGINE
from base.paths import EXPERIMENTS
from base.schema import schema
from model.cell import Cell
from model.operations import Transaction
from model.workloads import Operation

# never matches
NOTHING = re.compile("(?!)")


class Engine:
    """An engine: what its module defines, and the defaults below for the rest.

    Required: TITLE, FILES, role, requested, transactions, rendered and survives.
    """

    # required: the engine's name in text. The default is for a watched command: its engine is unknown
    TITLE = "the command"
    # required: role of each of its files → (label of its pages, colour); label `other`: no name of its own
    FILES: Mapping[str, tuple[str, str]] = {}
    # role → first bytes of a file of this role
    HEADS: Mapping[str, tuple[bytes, ...]] = {}
    # key in config.json of its properties, which it reports itself
    PROPERTIES = "properties"
    # whether vfs.csv has its calls, with some settings at least (logs_calls)
    LOGS_CALLS = False
    # whether opening a database writes to its files: a board of trials records that, which takes time, so
    # with cuts or faults the run records it, too (--record-opening)
    WRITES_ON_OPEN = False
    # settings that it cannot report; the cell has what was requested
    NOT_READ_BACK: tuple[str, ...] = ()
    # what it may report when it is opened → whether it then executed transactions again, None: possibly; {}:
    # it reports nothing
    RECOVERIES: Mapping[str, bool | None] = {}
    # whether any SQLite reads its database as it is after a crash
    OF_ANY_SQLITE = False
    # names of properties that are counters: those of several databases are added
    COUNTED = NOTHING
    # `<role>.<op>` of vfs.csv → a letter for the call; any other call is ?
    CALLS: Mapping[str, str] = {}
    # roles of files that may be called at any time
    UNORDERED: tuple[str, ...] = ()
    # settings as in config.json → the letters of the calls that one transaction may make; None: unknown
    order: Callable[[Mapping[str, Any]], re.Pattern[str]] | None = None
    # letters that end with calls that no explicit checkpoint completed
    UNFINISHED = NOTHING
    # beginning of the name of one of its threads → why it writes (schemas/ledger.py, NO_TRANSACTION)
    JOBS: Mapping[str, str] = {}
    # whether an update of a missing key adds a row: it writes without reading
    ADDS_MISSING = False
    # properties that change syncs or writes and that no cell sets → the engine's default
    UNASKED: Mapping[str, str] = {}

    def __init__(self, module: ModuleType | None = None) -> None:
        vars(self).update(vars(module) if module else {})

    def role(self, name: str, databases: Collection[str]) -> str | None:
        """Return the role of a file by its name; `databases`: names of the databases.

        `other`: one of its files without a role of its own; None: another engine's, or unknown.
        """
        raise NotImplementedError

    def requested(self, cell: Cell) -> dict[str, Any]:
        """Return the settings that a cell requests, by their names in config.json."""
        raise NotImplementedError

    def transactions(self, rendered: BinaryIO) -> Iterator[Transaction]:
        """Yield each transaction of what the driver rendered (docs/reference/formats.md, rendered.gz).

        Raises ValueError with the place that cannot be read.
        """
        raise NotImplementedError

    # the same for a workload of a user's file; None: the engine has no SQL. Raises ValueError
    transactions_of_file: Callable[[BinaryIO], Iterator[Transaction]] | None = None

    @property
    def has_sql(self) -> bool:
        """Return whether it executes SQL. If not, it has keys and values."""
        return self.transactions_of_file is not None

    def rendered(self, operations: tuple[Operation, ...], texts: Mapping[str, str]) -> bytes:
        """Return the bytes of a transaction in rendered.gz; `texts`: the workload's SQL (model/workloads)."""
        raise NotImplementedError

    def logs_calls(self, config: Mapping[str, Any]) -> bool:
        """Return whether vfs.csv of a run has its calls; config: config.json."""
        return self.LOGS_CALLS

    def stores(self, settings: Mapping[str, Any]) -> bool:
        """Return whether pages of its files are written by stores to a map, which are not calls.

        settings: in effect.
        """
        return False

    def in_effect(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings read back, and those requested that it cannot report.

        document: config.json, or the engine's part of manifest.json.
        """
        given = document.get("requested") or document.get("not_read_back") or {}
        effective: dict[str, Any] = document["effective"]
        return {name: given[name] for name in self.NOT_READ_BACK if name in given} | effective

    def survives(self, settings: Mapping[str, Any]) -> tuple[str, str]:
        """Return what survives a crash of the process, and of the system (survival.py).

        settings: as returned by `requested`. Raises KeyError for a missing or unknown one.
        """
        raise NotImplementedError

    def release(self, cell: Cell) -> str | None:
        """Return the release that a cell requests; None: any."""
        return None

    def contradicted(self, settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
        """Return how the calls of a database's files contradict the settings in effect.

        calls: VFS of schemas/ledger.py.
        """
        return []

    def miscounted(self, config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
        """Return how its counters of a database contradict each other, the transactions or the calls.

        config: config.json. ran: number of transactions. calls: vfs.csv; None: not logged.
        """
        return []

    def least_written(self, config: Mapping[str, Any]) -> int:
        """Return the least number of bytes that reached the device by its counters; 0: unknown."""
        return 0

    def maintenance(self, settings: Mapping[str, Any]) -> re.Pattern[str] | None:
        """Return the letters of the calls that an explicit checkpoint (checkpoint_every) may make.

        None: it does nothing with these settings.
        """
        return None


@functools.cache
def by_name(name: str) -> Engine:
    """Return an engine by its name. Raises KeyError for an unknown one."""
    if name not in names():
        raise KeyError(name)
    return Engine(importlib.import_module(f"model.engines.{name}"))


def name_in(document: Mapping[str, Any]) -> str:
    """Return the name of the engine in a cell, a config.json or a manifest."""
    return str(document.get("engine", FIRST_ENGINE))


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all engines."""
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(sorted(stem for stem in stems if stem != "survival" and not stem.startswith("_")))


@functools.cache
def axes() -> frozenset[str]:
    """Return the axes that are settings of some engine."""
    return _axes_of({by_name(name).TITLE for name in names()})


@functools.cache
def unused_axes(name: str) -> frozenset[str]:
    """Return the engine axes that have no effect with an engine; none for an unknown engine.

    Cells have values of these axes, too.
    """
    profile = _profile(name)
    if profile is None:
        return frozenset()
    others = {by_name(other).TITLE for other in names()} - {by_name(name).TITLE}
    return _axes_of(others) - {*profile["settings"].values(), profile.get("release")}


def setting_axes(name: str) -> list[str]:
    """Return the axes that set an engine's settings, in its profile's order; none for an unknown engine."""
    profile = _profile(name)
    return list(profile["settings"].values()) if profile else []


def packages(name: str) -> list[str]:
    """Return Debian's packages that are linked into an engine's driver; none for an unknown engine."""
    profile = _profile(name)
    return list(profile["packages"]) if profile else []


@functools.cache
def _profile(name: str) -> dict[str, Any] | None:
    path = EXPERIMENTS / "engine" / f"{name}.yml"
    return load_yaml(path) if path.is_file() else None


def _axes_of(titles: Collection[str]) -> frozenset[str]:
    return frozenset(axis for axis, spec in schema()["properties"].items() if spec["x-of"] in titles)


@functools.cache
def files() -> dict[str, tuple[str, str]]:
    """Return role → (label of its pages, colour), of the files of all engines."""
    ordered = sorted(names(), key=lambda name: (name != FIRST_ENGINE, name))
    return {role: file for name in ordered for role, file in by_name(name).FILES.items()}


def labels() -> dict[str, str]:
    """Return label → colour, of the pages of all engines' files, without `other`."""
    return {label: color for label, color in files().values() if label != "other"}


def roles(engine: Engine) -> tuple[str, ...]:
    """Return the roles of everything that a run of the engine syncs."""
    return (*engine.FILES, "directory", "other")


def label_of_another(label: str, engine: Engine) -> bool:
    """Return whether only other engines have pages with this label."""
    return label in labels() and label not in {name for name, _ in engine.FILES.values()}


def known_role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file in the first engine that recognises its name, or None."""
    roles = (by_name(engine).role(name, databases) for engine in names())
    return next((role for role in roles if role), None)


def role(name: str, databases: Collection[str]) -> str:
    """Return the role of a file; `other` if no engine recognises its name."""
    return known_role(name, databases) or "other"
