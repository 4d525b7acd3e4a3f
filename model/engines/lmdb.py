"""LMDB: file roles, map size and flags, the order of file calls in a commit, and what survives a crash.

Sources: its lmdb.h of release 0.9.31 (mdb_env_open, the flags), mdb.c (order of calls: mdb_txn_commit and
mdb_env_write_meta). Transactions are rendered as LevelDB's are.

Class Engine of model/engines loads the module by name.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from model.cell import Cell
from model.engines import leveldb, survival

TITLE = "LMDB"
FILES = {"data": ("data page", "#0072B2"), "lock": ("lock table", "#CC79A7")}
LOGS_CALLS = True
ADDS_MISSING = True
# the calls of a transaction: w writes pages, S syncs them, M syncs the map
CALLS = {"data.write": "w", "data.sync": "S", "data.msync": "M"}

_NAMES = {"data.mdb": "data", "lock.mdb": "lock"}
_FLAGS = ("nosync", "nometasync", "writemap", "mapasync")

transactions = leveldb.transactions
rendered = leveldb.rendered


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; the name of a database's folder does not matter."""
    return _NAMES.get(name)


def stores(settings: Mapping[str, Any]) -> bool:
    """Return whether pages are written by stores to the map."""
    return bool(settings["writemap"] == "on")


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that one transaction may make: its pages, a sync, and the meta page.

    The meta page is written through a descriptor with O_DSYNC, or synced by itself in the map.
    """
    syncs = settings["nosync"] == "off"
    if stores(settings):
        meta = "M" if settings["nometasync"] == "off" else ""
        return re.compile(f"(M{meta})?" if syncs else "")
    return re.compile(f"(w+{'S' * syncs}w)?")


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that an explicit mdb_env_sync makes."""
    return re.compile("M" if stores(settings) else "S")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the size of the map and the flags that a cell requests."""
    return {"map_size": cell.map_size, **{flag: cell.value(flag) for flag in _FLAGS}}


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return survival.promised("lmdb", settings)
