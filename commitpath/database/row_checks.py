"""Check rows of a results database (types, patterns, JSON documents); yield the valid, report the others."""

import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.schemas import documents
from base import identity, strict_json
from base.strict_json import UnfitError
from base.text import printable
from commitpath.database import checked_rows, store
from commitpath.database.store import LABEL
from model import cell as cells
from model import durability

Row = Mapping[str, Any]

# The stored columns; `run` has generated ones, too.
COLUMNS = {
    "run": (
        *("lab", "cell_id", "run_id", "repeat", "status", "reasons", "path", "stamp"),
        *("cell", "summary", "manifest", "host"),
    ),
    "grid_run": ("lab", "grid", "cell_id", "repeat"),
    "grid_excluded": ("lab", "grid", "settings", "reason"),
}
_PATTERNS = {
    "lab": LABEL,
    "grid": identity.GRID_NAME,
    "cell_id": identity.PATTERN,
    "run_id": r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
    "status": "ok|rejected|failed",
}
# Columns with documents of a run, checked by their schemas.
DOCUMENTS = ("summary", "manifest", "host")
# Other columns with JSON, and its type.
_JSON = {"cell": dict, "settings": dict, "reasons": list}
NULLABLE = (*DOCUMENTS, "path", "stamp", "repeat")


def stored(connection: sqlite3.Connection, table: str, order: str = "rowid") -> Iterator[Row]:
    """Yield the rows of a table, without generated columns."""
    query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} ORDER BY {order}"
    yield from map(dict, connection.execute(query))


def sound(connection: sqlite3.Connection, table: str, order: str = "rowid") -> Iterator[Row]:
    """Yield the valid rows of a table; the others are named on stderr."""
    path = store.path_of(connection)
    again = " (make results REBUILD=yes repairs it)" if path == str(store.DATABASE.resolve()) else ""
    known, new = checked_rows.valid(), set()
    for row in stored(connection, table, order):
        if (row_hash := checked_rows.row_hash(table, row)) not in known:
            if wrong := fault(table, row):
                print(
                    printable(f"commitpath: {path}: left out: {name(table, row)}: {wrong}{again}"),
                    file=sys.stderr,
                )
                continue
            new.add(row_hash)
        yield row
    checked_rows.remember(new)


def name(table: str, row: Row) -> str:
    """Return a row's key in one line, as `run LAB/CELL/RUN`."""
    key = [row[column] for column in COLUMNS[table][: 4 if table == "grid_run" else 3]]
    return f"{table} {printable('/'.join(map(str, key)))[:200]}"


def fault(table: str, row: Row) -> str | None:
    """Return the first invalid column of a row and its fault, or None."""
    column = ""
    try:
        for column in COLUMNS[table]:
            _check_column(column, row)
        if table == "run":
            column = "cell"
            _check_cell(strict_json.parse(row["cell"]), row["cell_id"])
    except (UnfitError, KeyError, TypeError, AttributeError) as error:
        return printable(f"{column}: {error}")[:500]
    return None


def _check_cell(cell: Mapping[str, Any], named: str) -> None:
    """Check the types of a cell's axes, and its id. Raises UnfitError."""
    for axis, kind in cells.mistyped(cell):
        raise UnfitError(f"{axis}: {cell[axis]!r} is not {kind}")
    if (cell_id := identity.cell_id(cell)) != named:
        raise UnfitError(f"it has another id: {cell_id}")


def _check_column(column: str, row: Row) -> None:
    """Check a column's type, pattern and JSON. Raises UnfitError."""
    value = row[column]
    if value is None:
        if column not in NULLABLE or (column in DOCUMENTS and row["status"] != "failed"):
            raise UnfitError("NULL")
        return
    if column == "repeat":
        if not isinstance(value, int):
            raise UnfitError("not a number")
        return
    if not isinstance(value, str):
        raise UnfitError("not a text")
    if column in _PATTERNS and not re.fullmatch(_PATTERNS[column], value):
        raise UnfitError(f"{value[:100]!r} is not {_PATTERNS[column]}")
    if column in DOCUMENTS:
        documents.check(column, content := strict_json.parse(value))
        if column == "manifest" and row["status"] == "ok":
            durability.in_effect(content)
    elif column in _JSON and not isinstance(strict_json.parse(value), _JSON[column]):
        raise UnfitError("not of the right kind")
