"""Hash a database's rows exactly as boards hash a recovered one, in C (workloads/trials/recovered.h)."""

import functools
import sqlite3
import struct
from collections.abc import Sequence
from typing import NamedTuple

_WORD = (1 << 64) - 1
_BEGIN, _FACTOR, _CLOSING = 0xCBF29CE484222325, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
_INTEGER, _REAL, _TEXT, _BLOB, _NULL = range(1, 6)
# The entries of a database's header that belong to the program.
_KEPT = ("user_version", "application_id")
# SQLite's statistics for its planner are not content: they differ between releases.
_OF_CONTENT = "name NOT GLOB 'sqlite_stat*'"
# The name comes first in a row, as in the driver (workloads/engines/sqlite/trials/recovered.c).
_SCHEMA = f"SELECT 'sqlite_master', type, name, tbl_name, sql FROM sqlite_master WHERE {_OF_CONTENT}"
_TABLES = f"SELECT name FROM sqlite_master WHERE type='table' AND {_OF_CONTENT}"


class Text(bytes):
    """The bytes of an SQL text; plain bytes are a blob."""


Value = int | float | bytes | None


class Held(NamedTuple):
    """The number of rows and the sum of their hashes, which does not depend on their order."""

    rows: int
    hash: int


def row_hash(values: Sequence[Value]) -> int:
    """Return the hash of a row."""
    state = _BEGIN
    for value in values:
        state = _word(state, _value(*_typed(value)))
    return _closed(state)


def tables(database: sqlite3.Connection, *names: str) -> Held:
    """Return the content of these tables; a missing one has no rows."""
    there = f"SELECT 1 FROM ({_TABLES}) WHERE name=?"
    present = [name for name in names if database.execute(there, (name,)).fetchone()]
    return Looks(database).held([f"SELECT * FROM {name} NOT INDEXED" for name in present])


class Looks:
    """Successive looks at a database. A row of the previous look is not hashed again."""

    def __init__(self, database: sqlite3.Connection) -> None:
        database.text_factory = Text
        self.database = database
        self._known: dict[tuple[object, ...], int] = {}

    def all(self) -> Held:
        """Return its whole content: schema, the program's entries of the header, and each table's rows, with
        rowid if there is one."""
        return self.held(self._queries())

    def read(self) -> None:
        """Read the whole content. Raises sqlite3.Error if it cannot be read."""
        for query in self._queries():
            for _ in self.database.execute(query):
                pass

    def _queries(self) -> list[str]:
        kept = [(name, *self.database.execute(f"PRAGMA {name}").fetchone()) for name in _KEPT]
        tables = [bytes(name).decode() for (name,) in self.database.execute(_TABLES)]
        every = [_SCHEMA, *(f"SELECT '{name}', {value}" for name, value in kept)]
        return [*every, *map(self._rows_of, tables)]

    def held(self, queries: list[str]) -> Held:
        """Return the number and hash of all rows that some queries return."""
        rows = total = 0
        now: dict[tuple[object, ...], int] = {}
        for query in queries:
            for row in self.database.execute(query):
                # a blob equals the text of its bytes, and 1 equals 1.0
                key = (row, *map(type, row))
                now[key] = self._known.get(key) or row_hash(row)
                total += now[key]
                rows += 1
        self._known = now
        return Held(rows, total & _WORD)

    def _rows_of(self, table: str) -> str:
        text, name = table.replace("'", "''"), table.replace('"', '""')
        columns = "rowid, *"
        try:
            self.database.execute(f'EXPLAIN SELECT rowid FROM "{name}"').close()
        except sqlite3.OperationalError:  # WITHOUT ROWID
            columns = "*"
        return f"SELECT '{text}', {columns} FROM \"{name}\" NOT INDEXED"


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
    """Return the hash of a value, cached as a workload repeats its values."""
    state = _word(_word(_BEGIN, kind), len(content))
    padded = content + bytes(-len(content) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        state = _word(state, word)
    return _closed(state)


def _word(taken: int, word: int) -> int:
    return (taken ^ word) * _FACTOR & _WORD


def _closed(taken: int) -> int:
    taken = (taken ^ (taken >> 32)) * _CLOSING & _WORD
    return taken ^ (taken >> 29)
