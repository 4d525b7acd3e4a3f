"""LMDB: its files and its settings. What survives is in experiments/engine/lmdb.yml.

It renders transactions as LevelDB's engine does.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from model.cell import Cell
from model.engines import leveldb, survival

TITLE = "LMDB"
FILES = {"data": ("data page", "#0072B2"), "lock": ("lock table", "#CC79A7")}
ADDS_MISSING = True

_NAMES = {"data.mdb": "data", "lock.mdb": "lock"}
_FLAGS = ("nosync", "nometasync", "writemap", "mapasync")

transactions = leveldb.transactions
rendered = leveldb.rendered


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; the name of a database's folder does not matter."""
    return _NAMES.get(name)


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return that a sync may make any calls: they are not logged."""
    return re.compile(".*")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the size of the map and the flags that a cell requests."""
    return {"map_size": cell.map_size, **{flag: cell.value(flag) for flag in _FLAGS}}


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return survival.promised("lmdb", settings)
