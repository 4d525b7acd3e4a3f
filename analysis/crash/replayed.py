"""What a database must hold after transactions of SQL that a cell has as text: SQLite plays them, one by one.

It is the SQLite of this Python, in memory: nothing of the board enters, neither its release nor its engine.
Where another release would give other rows, the run's ends tell (checks/crash.py).
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from analysis.adapters import sqlfile, userfile
from analysis.adapters.sqlfile import Statement
from analysis.crash.hashes import Held, Looks

# What gives another value each time, in another place, or to another release.
_OTHER = {"random": 0, "randomblob": 1, "sqlite_version": 0, "sqlite_source_id": 0}
# SQLite's functions of time, and which of their arguments is the first that is a time. Without one it is now.
_TIMES = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1, "timediff": 0}
_NOW = ("current_date", "current_time", "current_timestamp")
# Words among them that are now, or ask where the machine is.
_CLOCK = frozenset({"now", "localtime", "utc", "subsec", "subsecond"})


class UnknownError(ValueError):
    """Why it is not known what a database must hold; its text begins with the line."""


class Played(NamedTuple):
    """What was looked at, and how large the database was at its begin or end, the larger."""

    after: Mapping[int, Held]  # so many transactions
    bytes: int


def play(profile: Mapping[str, Any], asked: frozenset[int] = frozenset()) -> Played:
    """Play the transactions of a cell's text (profiles.file), and look after each number that is asked for.

    Raises UnknownError for one that fails, or whose outcome is not the statements' alone.
    """
    return _play(*userfile.text_of(profile), asked)


# verdict, checks and files of a run ask for the same
@functools.lru_cache(maxsize=4)
def _play(kind: str, text: str, asked: frozenset[int]) -> Played:
    parts = userfile.parts({kind: text})
    used = list[str]()
    with _connected(used) as made, _connected(used) as database:
        made.execute("BEGIN")
        for one in parts.schema:
            _run(made, one, used)
        made.execute("COMMIT")
        # as the driver opens it anew: no changes, no last rowid
        made.backup(database)
        looks, known = Looks(database), dict[int, Held]()
        begun, last, held = _bytes(database), None, Held(0, 0)
        for number, transaction in enumerate((None, *parts.transactions)):
            for one in sqlfile.statements(transaction.text, transaction.line) if transaction else ():
                _run(database, one, used)
            if number in asked:
                if (state := _state(database)) != last:
                    last, held = state, looks.all()
                known[number] = held
        return Played(known, max(begun, _bytes(database)))


def _run(database: sqlite3.Connection, one: Statement, used: list[str]) -> None:
    """Execute a statement as the driver does."""
    if one.words[:2] == ("CREATE", "VIRTUAL"):
        raise UnknownError(f"line {one.line}: how a virtual table keeps its rows is its module's")
    try:
        for _ in database.execute(one.text):
            pass
    except sqlite3.Error as error:
        if not used:
            raise UnknownError(
                f"line {one.line}: {error} (SQLite {sqlite3.sqlite_version} of this host)"
            ) from None
    if used:
        raise UnknownError(f"line {one.line}: what {used[0]} gives is not the same each time")


def _state(database: sqlite3.Connection) -> tuple[int, ...]:
    """Return what differs where anything was changed."""
    pragmas = ("schema_version", "user_version", "application_id")
    return database.total_changes, *(database.execute(f"PRAGMA {one}").fetchone()[0] for one in pragmas)


def _bytes(database: sqlite3.Connection) -> int:
    count, size = (database.execute(f"PRAGMA page_{one}").fetchone()[0] for one in ("count", "size"))
    return int(count * size)


@contextlib.contextmanager
def _connected(used: list[str]) -> Iterator[sqlite3.Connection]:
    """Return a database in memory whose functions tell when what they give is not the same each time: in a
    trigger or a DEFAULT, too."""
    made, plain = (sqlite3.connect(":memory:", isolation_level=None) for _ in range(2))
    with contextlib.closing(made), contextlib.closing(plain):
        for name, count in _OTHER.items():
            made.create_function(name, count, _noting(name, None, plain, used))
        for name in _NOW:
            made.create_function(name, 0, _noting(name, None, plain, used))
        there = {name for (name,) in plain.execute("SELECT name FROM pragma_function_list")}
        for name in there & _TIMES.keys():
            # of a time that is given they are the same each time, and may be in an index
            function = _noting(name, _TIMES[name], plain, used)
            made.create_function(name, -1, function, deterministic=True)
        yield made


def _noting(name: str, first: int | None, plain: sqlite3.Connection, used: list[str]) -> Callable[..., Any]:
    """Return SQLite's function of a name, which notes in `used` when what it gives is not the same each time:
    always, or from its arguments, of which that is the first that is a time."""

    def call(*values: Any) -> Any:
        if first is None:
            used.append(f"{name}()" if name not in _NOW else name.upper())
            return None
        words = {value.strip().lower() for value in values[first:] if isinstance(value, str)}
        if len(values) <= first or words & _CLOCK:
            shown = ", ".join(repr(value) for value in values)
            used.append(f"{name}({shown})")
            return None
        return plain.execute(f"SELECT {name}({','.join('?' * len(values))})", values).fetchone()[0]

    return call
