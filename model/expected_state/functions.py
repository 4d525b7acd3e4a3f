"""SQLite's functions that do not give the same each time: made to tell when they are called."""

import sqlite3
from collections.abc import Callable
from typing import Any

# What gives another value each time, in another place, or to another release.
_OTHER = {
    **{"random": 0, "randomblob": 1, "sqlite_version": 0, "sqlite_source_id": 0},
    **{"sqlite_compileoption_get": 1, "sqlite_compileoption_used": 1},
}
# SQLite's functions of time, and which of their arguments is the first that is a time. Without one it is now.
_TIMES = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1, "timediff": 0}
_NOW = ("current_date", "current_time", "current_timestamp")
# Words among them that are now, or ask where the machine is.
_CLOCK = frozenset({b"now", b"localtime", b"utc", b"subsec", b"subsecond"})


def watch(database: sqlite3.Connection, plain: sqlite3.Connection, used: list[str]) -> None:
    """Let a database's functions note in `used` when what they give is not the same each time: in a trigger
    or a DEFAULT, too. plain: a connection that has them as they are."""
    for name, count in _OTHER.items():
        database.create_function(name, count, _noting(name, None, plain, used))
    for name in _NOW:
        database.create_function(name, 0, _noting(name, None, plain, used))
    there = {name for (name,) in plain.execute("SELECT name FROM pragma_function_list")}
    for name in there & _TIMES.keys():
        # of a time that is given they are the same each time, and may be in an index
        function = _noting(name, _TIMES[name], plain, used)
        database.create_function(name, -1, function, deterministic=True)


def _noting(name: str, first: int | None, plain: sqlite3.Connection, used: list[str]) -> Callable[..., Any]:
    """Return SQLite's function of a name, which notes in `used` when what it gives is not the same each time:
    always, or from its arguments, of which that is the first that is a time."""

    def call(*values: Any) -> Any:
        if first is None:
            used.append(f"{name}()" if name not in _NOW else name.upper())
        elif len(values) <= first or {_word(value) for value in values[first:]} & _CLOCK:
            shown = ", ".join(repr(value) for value in values)
            used.append(f"{name}({shown})")
        marks = "" if name in _NOW else f"({','.join('?' * len(values))})"
        return plain.execute(f"SELECT {name}{marks}", values).fetchone()[0]

    return call


def _word(value: object) -> bytes:
    """Return a value as such a function reads it: a blob as a text, and up to a NUL."""
    text = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b""
    return text.partition(b"\0")[0].strip().lower()
