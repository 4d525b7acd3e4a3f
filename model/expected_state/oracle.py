"""The expected content of a database after each transaction of a run, as a hash of its rows.

The rows are the workload's, computed on the host (model/workloads/), or those of the host's SQLite after the
cell's SQL (replayed.py). They do not depend on anything that the board did.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from model import engines, operations, userfile, workloads
from model.cell import Cell
from model.expected_state import hashes, replayed
from model.expected_state.hashes import Held, Text
from model.workloads import Options

# The driver's workload for SQL text in the cell.
_SQL = "sql"


def is_known(workload: Mapping[str, Any]) -> bool:
    """Return whether the expected rows of a workload, by its profile, can be computed."""
    name = str(workload["driver_workload"])
    return name == _SQL or hasattr(workloads.by_name(name), "row")


def is_played(cell: Cell) -> bool:
    """Return whether the expected rows of a cell come from executing its SQL."""
    return bool(cell.profiles["workload"]["driver_workload"] == _SQL)


def after(cell: Cell, phases: list[str], numbers: Iterable[int]) -> Mapping[int, Held]:
    """Return the content after at least these numbers of transactions of a run with these phases.

    Raises ValueError if it is not known.
    """
    if is_played(cell):
        return replayed.play(cell.profiles["file"], frozenset(numbers)).after
    return dict(enumerate(after_each(cell, phases)))


def check(cell: Cell) -> None:
    """Raise ValueError, with a text that begins with the line, if a user's SQL has no known outcome."""
    if is_played(cell) and userfile.text_of(cell.profiles["file"])[0] in userfile.USERS:
        replayed.play(cell.profiles["file"])


def size(cell: Cell) -> int:
    """Return the approximate bytes of a cell's database."""
    if is_played(cell):
        return replayed.play(cell.profiles["file"]).bytes
    return int(cell.rows * cell.value_size)


def table(cell: Cell) -> str | None:
    """Return the table with known rows; None: the whole database is known."""
    workload = workloads.by_name(str(cell.profiles["workload"]["driver_workload"]))
    return None if is_played(cell) or workload is None else workload.TABLE


def after_each(cell: Cell, phases: list[str]) -> list[Held]:
    """Return the content after m transactions of a run with these phases, m from 0 on.

    Raises ValueError if it is not known.
    """
    workload = workloads.by_name(name := str(cell.profiles["workload"]["driver_workload"]))
    if workload is None or not is_known(cell.profiles["workload"]):
        raise ValueError(f"the rows of {name} are not known")
    options = Options(cell.rows, cell.n, cell.value_size, cell.seed)

    def row_hash(key: int, value: bytes) -> int:
        return hashes.row_hash(workload.row(key, Text(value)))

    adds_missing = engines.by_name(cell.engine).ADDS_MISSING
    rows = dict(workload.filled(options))
    total = sum(row_hash(key, value) for key, value in rows.items()) & (1 << 64) - 1
    states = [Held(len(rows), total)]
    for transaction in workloads.transactions(workload, options, phases):
        for kind, key, value in transaction:
            exists = key in rows
            is_missed = exists if kind == "insert" else not exists
            if not operations.kinds()[kind].mutates or (
                is_missed and not (adds_missing and kind != "delete")
            ):
                continue
            total -= row_hash(key, rows.pop(key)) if exists else 0
            if kind != "delete":
                rows[key] = value
                total += row_hash(key, value)
        total &= (1 << 64) - 1
        states.append(Held(len(rows), total))
    return states
