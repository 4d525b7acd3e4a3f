"""Whether a row, of any lab's, has the columns and documents that its readers need."""

import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.schemas import documents
from base import identity, strict_json
from base.strict_json import UnfitError
from base.text import printable
from commitpath.database import store
from commitpath.database.store import LABEL
from model import cell as cells
from model import durability

Row = Mapping[str, Any]

# The columns that are stored; `run` has others, which are read from its documents.
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
    "grid": r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}",
    "cell_id": identity.PATTERN,
    "run_id": r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
    "status": "ok|rejected|failed",
}
# Their schemas are those of a run's own documents.
DOCUMENTS = ("summary", "manifest", "host")
# Other columns with JSON.
_JSON = {"cell": dict, "settings": dict, "reasons": list}
NULLABLE = (*DOCUMENTS, "path", "stamp", "repeat")


def stored(connection: sqlite3.Connection, table: str, order: str = "rowid") -> Iterator[Row]:
    """The rows of a table, their stored columns only: nothing of the file is computed."""
    query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} ORDER BY {order}"
    yield from map(dict, connection.execute(query))


def sound(connection: sqlite3.Connection, table: str, order: str = "rowid") -> Iterator[Row]:
    """The rows of a table that are what they should be; the others are named on stderr."""
    path = store.path_of(connection)
    again = " (make results REBUILD=yes repairs it)" if path == str(store.DATABASE.resolve()) else ""
    for row in stored(connection, table, order):
        if wrong := fault(table, row):
            print(
                printable(f"commitpath: {path}: left out: {name(table, row)}: {wrong}{again}"),
                file=sys.stderr,
            )
        else:
            yield row


def name(table: str, row: Row) -> str:
    """`run LAB/CELL/RUN`: which row it is, in one line."""
    key = [row[column] for column in COLUMNS[table][: 4 if table == "grid_run" else 3]]
    return f"{table} {printable('/'.join(map(str, key)))[:200]}"


def fault(table: str, row: Row) -> str | None:
    """Return the column of a row that its readers cannot read, and why; None if they can read all."""
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
    """Check that a cell's axes have their types, and that it is the one of that id. Raises UnfitError."""
    for axis, kind in cells.mistyped(cell):
        raise UnfitError(f"{axis}: {cell[axis]!r} is not {kind}")
    if (own := identity.cell_id(cell)) != named:
        raise UnfitError(f"it has another id: {own}")


def _check_column(column: str, row: Row) -> None:
    """Check the type of a column, its pattern and the JSON that it holds. Raises UnfitError."""
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
