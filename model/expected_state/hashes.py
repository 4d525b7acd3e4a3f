"""The hash of rows that boards have of a database that came up (workloads/trials/recovered.h), and which rows
that is: those of a table that is known, or all that there is."""

import functools
import sqlite3
import struct
from collections.abc import Sequence
from typing import NamedTuple

_WORD = (1 << 64) - 1
_BEGIN, _FACTOR, _CLOSING = 0xCBF29CE484222325, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
_INTEGER, _REAL, _TEXT, _BLOB, _NULL = range(1, 6)
# Of the database's header, what is the program's own.
_KEPT = ("user_version", "application_id")
# What SQLite notes of the rows for its planner is no content: each release has another.
_OF_CONTENT = "name NOT GLOB 'sqlite_stat*'"
# One that stands first in a row, as the driver has it (workloads/engines/sqlite/trials/recovered.c).
_SCHEMA = f"SELECT 'sqlite_master', type, name, tbl_name, sql FROM sqlite_master WHERE {_OF_CONTENT}"
_TABLES = f"SELECT name FROM sqlite_master WHERE type='table' AND {_OF_CONTENT}"


class Text(bytes):
    """The bytes of a text, which are not a blob's."""


Value = int | float | bytes | None


class Held(NamedTuple):
    """How many rows there are, and the sum of their hashes, so that their order does not matter."""

    rows: int
    hash: int


def row_hash(values: Sequence[Value]) -> int:
    """Return the hash of a row."""
    found = _BEGIN
    for value in values:
        found = _word(found, _value(*_typed(value)))
    return _closed(found)


def table(database: sqlite3.Connection, name: str) -> Held:
    """Return what is in a table; one that is not there has no rows."""
    ((found,),) = database.execute(f"SELECT count(*) FROM ({_TABLES}) WHERE name=?", (name,))
    return Looks(database).of([f"SELECT * FROM {name} NOT INDEXED"] if found else [])


class Looks:
    """Looks at a database, one after another. A row that the last one found is not hashed again."""

    def __init__(self, database: sqlite3.Connection) -> None:
        database.text_factory = Text
        self.database = database
        self._known: dict[tuple[object, ...], int] = {}

    def all(self) -> Held:
        """Return all that it holds: its schema, what is the program's own of its header, and of each table
        each row, with its rowid where it has one."""
        return self.of(self._queries())

    def read(self) -> None:
        """Read all that, so that what cannot be read is told by an sqlite3.Error."""
        for query in self._queries():
            for _ in self.database.execute(query):
                pass

    def _queries(self) -> list[str]:
        kept = [(name, *self.database.execute(f"PRAGMA {name}").fetchone()) for name in _KEPT]
        tables = [bytes(name).decode() for (name,) in self.database.execute(_TABLES)]
        every = [_SCHEMA, *(f"SELECT '{name}', {value}" for name, value in kept)]
        return [*every, *map(self._rows_of, tables)]

    def of(self, queries: list[str]) -> Held:
        """Return what the rows of some queries are together."""
        rows = total = 0
        now: dict[tuple[object, ...], int] = {}
        for query in queries:
            for row in self.database.execute(query):
                # a blob equals the text of its bytes, and 1 equals 1.0
                key = (row, *map(type, row))
                now[key] = found = self._known.get(key) or row_hash(row)
                total += found
                rows += 1
        self._known = now
        return Held(rows, total & _WORD)

    def _rows_of(self, table: str) -> str:
        text, name = table.replace("'", "''"), table.replace('"', '""')
        with_rowid, without = (
            f"SELECT '{text}', {columns} FROM \"{name}\" NOT INDEXED" for columns in ("rowid, *", "*")
        )
        try:
            self.database.execute(f"EXPLAIN {with_rowid}").close()
        except sqlite3.OperationalError:  # WITHOUT ROWID
            return without
        return with_rowid


def _typed(value: Value) -> tuple[int, bytes]:
    if isinstance(value, int):
        return _INTEGER, struct.pack("<q", value)
    if isinstance(value, float):
        return _REAL, struct.pack("<d", value)
    if value is None:
        return _NULL, b""
    return (_TEXT if isinstance(value, Text) else _BLOB), bytes(value)


@functools.lru_cache(4096)
def _value(kind: int, content: bytes) -> int:
    """Return the hash of a value; those of a workload are alike."""
    found = _word(_word(_BEGIN, kind), len(content))
    padded = content + bytes(-len(content) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        found = _word(found, word)
    return _closed(found)


def _word(taken: int, word: int) -> int:
    return (taken ^ word) * _FACTOR & _WORD


def _closed(taken: int) -> int:
    taken = (taken ^ (taken >> 32)) * _CLOSING & _WORD
    return taken ^ (taken >> 29)
