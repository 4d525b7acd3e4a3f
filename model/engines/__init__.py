"""Engines: what an analysis knows of one, in a module of the engine's name."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import polars as pl

from base.data import load_yaml
from base.identity import FIRST_ENGINE
from base.paths import EXPERIMENTS
from base.schema import schema
from model.cell import Cell
from model.operations import Transaction
from model.workloads import Operation


class Engine(Protocol):
    """What each module of this folder has."""

    TITLE: str
    # role of each of its files → (what a page of it is called, colour); of those that have no word of
    # their own, `other`
    FILES: Mapping[str, tuple[str, str]]
    # what else it says of itself: the key in config.json
    PROPERTIES: str
    # whether vfs.csv has its calls
    LOGS_CALLS: bool
    # what its opening may say that it met, → whether it then executed transactions again, None: it may have;
    # {}: it says nothing
    RECOVERIES: Mapping[str, bool | None]
    # whether any SQLite reads its database as it is after a crash
    OF_ANY_SQLITE: bool
    # names of what else it says that are numbers of what it did: those of several databases add up
    COUNTED: re.Pattern[str]
    # a letter for each of its calls, by `<role>.<op>` of vfs.csv; another one has the letter ?
    CALLS: Mapping[str, str]
    # roles of files whose calls come when it likes
    UNORDERED: tuple[str, ...]
    # settings as in config.json → the letters of the calls that one transaction may make; None: not known
    order: Callable[[Mapping[str, Any]], re.Pattern[str]] | None
    # letters that end with calls of which an explicit checkpoint leaves none
    UNFINISHED: re.Pattern[str]
    # how the name of a thread of its own begins → why that writes (ledger_schema.py, NO_TRANSACTION)
    JOBS: Mapping[str, str]
    # whether an update of a key that is not there adds a row: it writes without reading
    ADDS_MISSING: bool
    # properties that no cell asks for and that change what is synced or written: the engine's own values
    UNASKED: Mapping[str, str]

    def role(self, name: str, databases: Collection[str]) -> str | None:
        """Return the role of a file by its name; `databases` are the databases'. `other`: one of its own
        that has no word; None: not one of its."""

    def contradicted(self, settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
        """Return in what the calls of a database's files (ledger_schema.py, VFS) are not of the settings that
        were in effect."""

    def miscounted(self, config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
        """Return in what the numbers that it counts itself of a database (config.json) contradict each other,
        the `ran` transactions, or the calls of its files (vfs.csv; None: nobody logged them)."""

    def least_written(self, config: Mapping[str, Any]) -> int:
        """Return how many bytes reached the device at least by those numbers; 0: they say nothing of it."""

    def maintenance(self, settings: Mapping[str, Any]) -> re.Pattern[str] | None:
        """Return the letters of the calls that an explicit checkpoint (checkpoint_every) may make; None: with
        these settings it does nothing."""

    def requested(self, cell: Cell) -> dict[str, Any]:
        """Return the settings that a cell asks for, by their names in config.json."""

    def release(self, cell: Cell) -> str | None:
        """Return the release that a cell asks for; None: any."""

    def transactions(self, rendered: BinaryIO) -> Iterator[Transaction]:
        """Yield each transaction of what the driver rendered (docs/reference/formats.md, rendered.gz).

        Raises ValueError with the place that is none.
        """

    # likewise of a workload of a user's file; None: the engine has no SQL. Raises ValueError
    transactions_of_file: Callable[[BinaryIO], Iterator[Transaction]] | None

    def rendered(self, operations: tuple[Operation, ...], texts: Mapping[str, str]) -> bytes:
        """Return what a transaction is rendered as: a line of rendered.gz.

        texts: of the workload's SQL (model/workloads).
        """

    def survives(self, settings: Mapping[str, Any]) -> tuple[str, str]:
        """Return what survives a crash of the process, and of the system (survival.py).

        settings: as `requested` has them. Raises KeyError for one that is missing or not the engine's.
        """


def of(name: str) -> Engine:
    """Return an engine by its name. Raises KeyError for one that is not known."""
    if name not in names():
        raise KeyError(name)
    return cast("Engine", importlib.import_module(f"model.engines.{name}"))


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
    return _axes_of({of(name).TITLE for name in names()})


@functools.cache
def lacking(name: str) -> frozenset[str]:
    """Return the axes that an engine does not have: those of engines, but its own, its release and those that
    it has a setting of.

    A cell has a value of them, too, which says nothing. Of another lab's engine nobody here knows.
    """
    path = EXPERIMENTS / "engine" / f"{name}.yml"
    if not path.is_file():
        return frozenset()
    profile, others = load_yaml(path), {of(other).TITLE for other in names()} - {of(name).TITLE}
    return _axes_of(others) - {*profile["settings"].values(), profile.get("release")}


def _axes_of(titles: Collection[str]) -> frozenset[str]:
    return frozenset(axis for axis, spec in schema()["properties"].items() if spec["x-of"] in titles)


@functools.cache
def files() -> dict[str, tuple[str, str]]:
    """Role of a file of any engine → (label of its pages, colour)."""
    first_is_first = sorted(names(), key=lambda name: (name != FIRST_ENGINE, name))
    return {role: file for name in first_is_first for role, file in of(name).FILES.items()}


def labels() -> dict[str, str]:
    """What a page of a file of any engine is called → its colour; `other` is no engine's word."""
    return {label: color for label, color in files().values() if label != "other"}


def roles(engine: Engine) -> tuple[str, ...]:
    """Return the roles of the files that a run of the engine has, and what else is synced."""
    return (*engine.FILES, "directory", "other")


def label_of_another(label: str, engine: Engine) -> bool:
    """Whether only other engines have such pages."""
    return label in labels() and label not in {own for own, _ in engine.FILES.values()}


def known_role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file in the engine that has files of such a name, None if none has."""
    found = (of(engine).role(name, databases) for engine in names())
    return next((kind for kind in found if kind), None)


def role(name: str, databases: Collection[str]) -> str:
    """Return the role of a file, `other` also where no engine has files of such a name."""
    return known_role(name, databases) or "other"
