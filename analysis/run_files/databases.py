"""Split config.json and file calls of a run by database; list their paths; check that counters add up."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import polars as pl

# prefixes of counters that are maxima; other counters are sums
_MOST = ("most ", "longest ")
# keys of config.json that only a database has
_PER_DATABASE = ("path", "transactions", "changes")


class Database(NamedTuple):
    """A database of a run."""

    number: int  # from 1, as vfs.csv has it
    title: str  # prefix of messages; "" for a single database
    config: dict[str, Any]  # config.json with only its values
    ran: int  # transactions


def count(config: Mapping[str, Any]) -> int:
    """Return the number of databases."""
    return len(config.get("databases", [])) or 1


def names(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the base names of the databases; "" for a command."""
    if "database" not in config.get("driver", {}):
        return ("",)
    paths = [entry["path"] for entry in config.get("databases", [])] or [config["driver"]["database"]]
    return tuple(PurePosixPath(path).name for path in paths)


def paths(config: Mapping[str, Any]) -> list[str]:
    """Return the paths of all databases, derived from the first as in workloads/databases.c."""
    first = PurePosixPath(config["driver"]["database"])
    others = [f"{first.stem}-{number}{first.suffix}" for number in range(2, count(config) + 1)]
    return [str(first), *(str(first.with_name(name)) for name in others)]


def split(config: Mapping[str, Any], ran: int) -> Iterator[Database]:
    """Yield each database. ran: the run's transactions."""
    several = config.get("databases")
    if several is None:
        yield Database(1, "", dict(config), ran)
        return
    for number, entry in enumerate(several, 1):
        values = {**config, **entry}
        own = {key: values[key] for key in values if key not in (*_PER_DATABASE, "databases")}
        yield Database(number, f"database {number}: ", own, entry["transactions"])


def calls_of(calls: pl.DataFrame, number: int) -> pl.DataFrame:
    """Return the calls in vfs.csv on a database's files."""
    if "database" not in calls.columns:
        return calls
    own = calls["database"]
    return calls if own.is_null().all() else calls.filter(own == number)


def unsummed(config: Mapping[str, Any], properties: str, counted: re.Pattern[str]) -> list[str]:
    """Return the run's counters that are not the sum, or the maximum, of its databases' counters.

    properties: the key of the engine's properties; counted: matches the names of counters in it.
    """
    several, wrong = config.get("databases", []), list[str]()
    for where in ("file_sizes", "file_sizes_before_close", properties):
        for name, total in config.get(where, {}).items() if several else ():
            if where == properties and not counted.fullmatch(name):
                continue
            each = [_number(entry.get(where, {}).get(name, 0)) for entry in several]
            due = max(each) if name.startswith(_MOST) else sum(each)
            if due != _number(total):
                wrong.append(f"{name}: {total}, and its databases make {due}")
    return wrong


def _number(value: Any) -> int:
    """Return a counter of config.json, or -1 if it is not a number."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else -1
