"""A run's databases: one, or each in `databases` of config.json (docs/reference/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import polars as pl

# what a maximum is called; other numbers that are counted add up
_MOST = ("most ", "longest ")
# what config.json has of a database that it has of no run
_OF_ONE = ("path", "transactions", "changes")


class Database(NamedTuple):
    """One of them."""

    number: int  # from 1, as vfs.csv has it
    title: str  # before what is said of it; "" of the only one
    config: dict[str, Any]  # config.json as of it alone
    ran: int  # transactions


def count(config: Mapping[str, Any]) -> int:
    """Return how many there are."""
    return len(config.get("databases", [])) or 1


def names(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return their base names; of a command's none is known."""
    if "database" not in config.get("driver", {}):
        return ("",)
    paths = [one["path"] for one in config.get("databases", [])] or [config["driver"]["database"]]
    return tuple(PurePosixPath(path).name for path in paths)


def paths(config: Mapping[str, Any]) -> list[str]:
    """Return the path that the driver gives each of several, by the first one's (workloads/databases.c)."""
    first = PurePosixPath(config["driver"]["database"])
    others = [f"{first.stem}-{number}{first.suffix}" for number in range(2, count(config) + 1)]
    return [str(first), *(str(first.with_name(name)) for name in others)]


def of(config: Mapping[str, Any], ran: int) -> Iterator[Database]:
    """Yield each. ran: the run's transactions."""
    several = config.get("databases")
    if several is None:
        yield Database(1, "", dict(config), ran)
        return
    for number, one in enumerate(several, 1):
        own = {key: value for key, value in {**config, **one}.items() if key not in (*_OF_ONE, "databases")}
        yield Database(number, f"database {number}: ", own, one["transactions"])


def calls_of(calls: pl.DataFrame, number: int) -> pl.DataFrame:
    """Return the calls of vfs.csv of a database's files."""
    if "database" not in calls.columns:
        return calls
    own = calls["database"]
    return calls if own.is_null().all() else calls.filter(own == number)


def unsummed(config: Mapping[str, Any], properties: str, counted: re.Pattern[str]) -> list[str]:
    """Return which numbers of all databases are not those of each, added up or the largest.

    properties: the key of what the engine says of itself, counted: the names in it that are such numbers.
    """
    several, found = config.get("databases", []), list[str]()
    for where in ("file_sizes", "file_sizes_before_close", properties):
        for name, total in config.get(where, {}).items() if several else ():
            if where == properties and not counted.fullmatch(name):
                continue
            each = [_number(one.get(where, {}).get(name, 0)) for one in several]
            due = max(each) if name.startswith(_MOST) else sum(each)
            if due != _number(total):
                found.append(f"{name}: {total}, and its databases make {due}")
    return found


def _number(value: Any) -> int:
    """Return a number as config.json has it; of what is none, one that none is."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else -1
