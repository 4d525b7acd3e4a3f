"""Engines: what an analysis knows of one, in a module of the engine's name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

# What there was before there were others: old files name none.
FIRST = "sqlite"


class Engine(Protocol):
    """What each module of this folder has."""

    TITLE: str
    # roles of its files, and what else is synced
    ROLES: tuple[str, ...]
    # what else it says of itself: the key in config.json
    PROPERTIES: str
    # whether vfs.csv has its calls
    LOGS_CALLS: bool

    def role(self, name: str, database: str) -> str | None:
        """Return the role of a file by its name; `database` is the database's. None: not one of its."""

    def requested(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that a cell asks for, by their names in config.json."""

    def release(self, cell: Mapping[str, Any]) -> str | None:
        """Return the release that a cell asks for; None: any."""

    def survives(self, settings: Mapping[str, Any]) -> tuple[str, str]:
        """Return what survives a crash of the process, and of the system (survival.py).

        settings: as `requested` has them. Raises KeyError for one that is missing or not the engine's.
        """


def of(name: str) -> Engine:
    """Return an engine by its name. Raises KeyError for one that is not known."""
    if name not in names():
        raise KeyError(name)
    return cast("Engine", importlib.import_module(f"analysis.engines.{name}"))


def name_in(document: Mapping[str, Any]) -> str:
    """Return the name of the engine in a cell, a config.json or a manifest."""
    return str(document.get("engine", FIRST))


def names() -> list[str]:
    """Return the names of all engines."""
    none = ("__init__", "survival")
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in none)


def role(name: str, database: str) -> str:
    """Return the role of a file in the engine that has files of such a name, `other` if none has."""
    found = (of(engine).role(name, database) for engine in names())
    return next((kind for kind in found if kind), "other")
