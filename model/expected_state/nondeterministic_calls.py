"""Replace SQLite functions by ones that note calls which are not deterministic: random(), date('now'), …"""

import sqlite3
from collections.abc import Callable
from typing import Any

# Functions with another value in each call, place or release → number of arguments.
_OTHER = {
    **{"random": 0, "randomblob": 1, "sqlite_version": 0, "sqlite_source_id": 0},
    **{"sqlite_compileoption_get": 1, "sqlite_compileoption_used": 1},
}
# SQLite's functions of time → place of their first argument that is a time. Without one it is now.
_TIMES = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1, "timediff": 0}
_NOW = ("current_date", "current_time", "current_timestamp")
# Arguments that mean now, or the machine's time zone.
_CLOCK = frozenset({b"now", b"localtime", b"utc", b"subsec", b"subsecond"})


def watch(database: sqlite3.Connection, plain: sqlite3.Connection, used: list[str]) -> None:
    """Have a database's functions append their non-deterministic calls to `used`, also those in a trigger or
    a DEFAULT. plain: a connection with SQLite's own functions."""
    for name, count in _OTHER.items():
        database.create_function(name, count, _noting(name, None, plain, used))
    for name in _NOW:
        database.create_function(name, 0, _noting(name, None, plain, used))
    available = {name for (name,) in plain.execute("SELECT name FROM pragma_function_list")}
    for name in available & _TIMES.keys():
        # with a given time they are deterministic, and may be in an index
        function = _noting(name, _TIMES[name], plain, used)
        database.create_function(name, -1, function, deterministic=True)


def _noting(name: str, first: int | None, plain: sqlite3.Connection, used: list[str]) -> Callable[..., Any]:
    """Return SQLite's function of a name, which appends its non-deterministic calls to `used`.

    first: place of its first argument that is a time; None: each call is non-deterministic.
    """

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
    """Return an argument as these functions read it: a blob as text, up to a NUL."""
    text = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b""
    return text.partition(b"\0")[0].strip().lower()
