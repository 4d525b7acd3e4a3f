"""Is a row what this lab would have written? Of the own database, and of another lab's."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from analysis import consistent, documents, durability
from analysis.documents import UnfitError
from base import identity
from base.text import printable
from commitpath.database import cells, limits
from commitpath.database.store import LABEL

Row = Mapping[str, Any]

# The columns that are stored; `run` has others, which are read from its documents.
COLUMNS = {
    "run": (
        *("lab", "cell_id", "run_id", "repeat", "status", "reasons", "path", "stamp"),
        *("cell", "summary", "manifest", "host"),
    ),
    "file": ("lab", "cell_id", "run_id", "name", "sha256", "content"),
    "grid_run": ("lab", "grid", "cell_id", "repeat"),
    "grid_excluded": ("lab", "grid", "settings", "reason"),
}
_PATTERNS = {
    "lab": LABEL,
    "grid": r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}",
    "cell_id": identity.PATTERN,
    "run_id": r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
    "sha256": r"[0-9a-f]{64}",
    "status": "ok|rejected|failed",
}
# of a sweep's runs of a cell
_REPEATS = range(1_000_001)
_TEXTS = documents.validator({"type": "array", "items": {"type": "string"}})
_SETTINGS = documents.validator(
    {
        "type": "object",
        "propertyNames": {"pattern": "^[a-z][a-z0-9_]{0,49}$"},
        "additionalProperties": {"type": ["string", "number"]},
    }
)


def stored(connection: sqlite3.Connection, table: str, order: str = "rowid") -> Iterator[Row]:
    """The rows of a table, their stored columns only: nothing of the file is computed."""
    columns = ", ".join(COLUMNS[table])
    query = f"SELECT {columns} FROM {table} ORDER BY {order} LIMIT {limits.ROWS + 1}"
    yield from map(dict, connection.execute(query))


def name(table: str, row: Row) -> str:
    """`run LAB/CELL/RUN`: which row it is, in one line."""
    key = [row[column] for column in COLUMNS[table][: 4 if table in ("file", "grid_run") else 3]]
    return f"{table} {printable('/'.join(map(str, key)))[:200]}"


def fault(table: str, row: Row) -> str | None:
    """Which column of a row is not what it should be, and why; None if all are."""
    try:
        for column in COLUMNS[table]:
            _at(column, _column, column, row[column])
        _CHECKS[table](row)
    except UnfitError as error:
        return printable(error)[:500]
    return None


def _at(column: str, check: Callable[..., Any], *values: Any) -> Any:
    """What check(*values) returns; its UnfitError with the column's name before it."""
    try:
        return check(*values)
    except UnfitError as error:
        raise UnfitError(f"{column}: {error}") from None


def _column(column: str, value: Any) -> None:
    """The type of a column, and what holds of it in every table."""
    if column == "content":
        if not isinstance(value, bytes | None):
            raise UnfitError("not a blob")
    elif column == "repeat":
        if value is not None and (not isinstance(value, int) or value not in _REPEATS):
            raise UnfitError(f"not a number from 0 to {_REPEATS[-1]}")
    elif value is None:
        if column not in ("path", "stamp", "summary", "manifest", "host"):
            raise UnfitError("NULL")
    elif not isinstance(value, str):
        raise UnfitError("not a text")
    elif len(value) > limits.TEXT_BYTES:
        raise UnfitError(f"more than {limits.TEXT_BYTES} bytes")
    else:
        documents.whole(value)
        if column in _PATTERNS and not re.fullmatch(_PATTERNS[column], value):
            what = "not a run's name" if column == "run_id" else f"{value[:100]!r} is not {_PATTERNS[column]}"
            raise UnfitError(what)


def _run(row: Row) -> None:
    cell = _at("cell", documents.parse, row["cell"])
    _at("cell", cells.check, cell, row["cell_id"])
    reasons = _at("reasons", documents.parse, row["reasons"])
    _at("reasons", _TEXTS, reasons)
    if row["path"] is not None:
        _at("path", relative, row["path"])
    summary, manifest, host = (_document(row, column) for column in ("summary", "manifest", "host"))
    missing = [
        column
        for column in ("summary", "manifest", "host")
        if row["status"] != "failed" and row[column] is None
    ]
    if missing:
        raise UnfitError(f"{missing[0]}: NULL in a run that is {row['status']}")
    if summary and (summary["status"], summary["reasons"]) != (row["status"], reasons):
        raise UnfitError("summary: its status and reasons are not the row's")
    if summary:
        _at("summary", _operations, summary)
    if row["status"] == "ok":
        _at("manifest", durability.in_effect, manifest)
    if manifest:
        for file in manifest["raw_sha256"]:
            _at("manifest: raw_sha256", relative, file)
    for column, document in (("summary", summary), ("host", host)):
        if document and document["cell_id"] != row["cell_id"]:
            raise UnfitError(f"{column}: of another cell: {document['cell_id']}")
    if host and host["run_id"] != row["run_id"]:
        raise UnfitError(f"host: of another run: {host['run_id']}")
    if summary and manifest and host and (wrong := consistent.reasons(cell, summary, manifest, host)):
        raise UnfitError(wrong[0])


def _document(row: Row, column: str) -> Any:
    """A document that the row has, checked; None where it has none."""
    if row[column] is None:
        return None
    value = _at(column, documents.parse, row[column])
    _at(column, documents.check, column, value)
    return value


def _operations(summary: Mapping[str, Any]) -> None:
    """A watched run says of each operation what it has a rate of."""
    if not summary["ledger"]:
        return
    operations = set(summary["tps"]) - {"all"}
    for where, told in (
        ("syncs", summary["syncs"]),
        ("per_transaction", summary["per_transaction"]),
        ("ledger.per_transaction", summary["ledger"]["per_transaction"]),
    ):
        if operations - set(told):
            raise UnfitError(f"{where} lacks {', '.join(sorted(operations - set(told)))}")


def _file(row: Row) -> None:
    _at("name", relative, row["name"])


def _grid_run(row: Row) -> None:
    if row["repeat"] is None:
        raise UnfitError("repeat: NULL")


def _grid_excluded(row: Row) -> None:
    _at("settings", _SETTINGS, _at("settings", documents.parse, row["settings"]))


_CHECKS = {"run": _run, "file": _file, "grid_run": _grid_run, "grid_excluded": _grid_excluded}


def relative(path: str) -> None:
    """Refuse the name of a file that is not plainly below its folder. Raises UnfitError."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise UnfitError(f"{path[:100]!r} would be outside its folder, or has more than one name")
    if not path.isprintable() or len(path.encode()) > 1000 or any(len(part.encode()) > 255 for part in parts):
        raise UnfitError(f"{path[:100]!r} is not a file's name")
