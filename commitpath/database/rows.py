"""Whether a row, of any lab's, has the columns and documents that its readers need."""

import functools
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from analysis.schemas import documents
from analysis.schemas.documents import Validator
from base import identity, strict_json
from base.strict_json import UnfitError
from base.text import printable
from commitpath.axes import axes
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
# Without these no run is told from another (commitpath/reporting, analysis/report/consistency.py).
_AXES = (
    *("clock", "device", "fs", "journal_mode", "n", "probes", "profiles", "rows", "seed", "sqlite"),
    *("synchronous", "workload", "engine", "at_default"),
)
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
    """Which column of a row is not what it should be, and why; None if all are."""
    try:
        for column in COLUMNS[table]:
            _at(column, _column, column, row[column])
        if table == "run":
            _run(row)
        elif table == "grid_excluded":
            _at("settings", _SETTINGS, _at("settings", strict_json.parse, row["settings"]))
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
    if column == "repeat":
        if not isinstance(value, int | None):
            raise UnfitError("not a number")
    elif value is None:
        if column not in ("path", "stamp", "summary", "manifest", "host"):
            raise UnfitError("NULL")
    elif not isinstance(value, str):
        raise UnfitError("not a text")
    else:
        strict_json.whole(value)
        if column in _PATTERNS and not re.fullmatch(_PATTERNS[column], value):
            raise UnfitError(f"{value[:100]!r} is not {_PATTERNS[column]}")


def _run(row: Row) -> None:
    cell = _at("cell", strict_json.parse, row["cell"])
    _at("cell", _cell(), cell)
    for name, kind in cells.mistyped(cell):
        raise UnfitError(f"cell: {name}: {cell[name]!r} is not {kind}")
    if (own := identity.cell_id(cell)) != row["cell_id"]:
        raise UnfitError(f"cell: it has another id: {own}")
    _at("reasons", _TEXTS, _at("reasons", strict_json.parse, row["reasons"]))
    summary, manifest, _ = (_document(row, column) for column in ("summary", "manifest", "host"))
    if summary:
        _at("summary", _operations, summary)
    if row["status"] == "ok":
        _at("manifest", durability.in_effect, manifest)


def _document(row: Row, column: str) -> Any:
    """A document that the row has, checked; None where it has none."""
    if row[column] is None:
        if row["status"] != "failed":
            raise UnfitError(f"{column}: NULL in a run that is {row['status']}")
        return None
    value = _at(column, strict_json.parse, row[column])
    _at(column, documents.check, column, value)
    return value


@functools.cache
def _cell() -> Validator:
    """What a stored cell must be: another lab may have other axes and other names of files."""
    properties: dict[str, Any] = {
        name: {"type": axis.spec.get("type", ["string", "number"])} for name, axis in axes().items()
    }
    properties["at_default"] = {"type": "array", "items": {"type": "string"}}
    parts = {
        "device": ("driver", "geometry", "timing"),
        "fs": ("type", "mkfs", "mount"),
        "workload": ("driver_workload",),
    }
    properties["profiles"] = {
        "type": "object",
        "required": list(parts),
        "properties": {name: {"type": "object", "required": list(keys)} for name, keys in parts.items()},
        "additionalProperties": {"type": "object"},
    }
    return documents.validator({"type": "object", "required": list(_AXES), "properties": properties})


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
