"""What a database must hold after each of a run's transactions: a hash of all rows, whatever their order.

The rows are the workload's own, made again (model/workloads/), or those that SQLite leaves that plays the
cell's SQL (replayed.py); no byte of what the board did enters.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from model import operations, userfile, workloads
from model.cell import Cell
from model.expected_state import hashes, replayed
from model.expected_state.hashes import Held, Text
from model.workloads import Options

# The driver's workload of SQL that a cell has as text.
_SQL = "sql"


def is_known(workload: Mapping[str, Any]) -> bool:
    """Whether a workload's profile is of SQL that a cell has, or of transactions that are made again, on a
    table that is known whole."""
    name = str(workload["driver_workload"])
    return name == _SQL or hasattr(workloads.by_name(name), "row")


def is_played(cell: Cell) -> bool:
    """Whether what a cell's database must hold is known by playing its SQL."""
    return bool(cell.profiles["workload"]["driver_workload"] == _SQL)


def after(cell: Cell, phases: list[str], asked: Iterable[int]) -> Mapping[int, Held]:
    """Return what there is after those numbers of transactions of a run of those phases, at least.

    Raises ValueError where it is not known.
    """
    if is_played(cell):
        return replayed.play(cell.profiles["file"], frozenset(asked)).after
    return dict(enumerate(after_each(cell, phases)))


def check(cell: Cell) -> None:
    """Raise ValueError where what a user's SQL leaves is not known; the text begins with the line."""
    if is_played(cell) and userfile.text_of(cell.profiles["file"])[0] in userfile.USERS:
        replayed.play(cell.profiles["file"])


def size(cell: Cell) -> int:
    """Return the bytes of a cell's database, about."""
    if is_played(cell):
        return replayed.play(cell.profiles["file"]).bytes
    return int(cell.rows * cell.value_size)


def table(cell: Cell) -> str | None:
    """Return the table whose rows are known; None: all that there is is."""
    found = workloads.by_name(str(cell.profiles["workload"]["driver_workload"]))
    return None if is_played(cell) or found is None else found.TABLE


def after_each(cell: Cell, phases: list[str]) -> list[Held]:
    """Return what there is after m transactions of a run of those phases, m from 0 on.

    Raises ValueError where the cell's workload is not made again.
    """
    workload = workloads.by_name(name := str(cell.profiles["workload"]["driver_workload"]))
    if workload is None or not is_known(cell.profiles["workload"]):
        raise ValueError(f"the rows of {name} are not known")
    options = Options(cell.rows, cell.n, cell.value_size, cell.seed)

    def of(key: int, value: bytes) -> int:
        return hashes.row_hash(workload.row(key, Text(value)))

    rows = dict(workload.filled(options))
    total = sum(of(key, value) for key, value in rows.items()) & (1 << 64) - 1
    found = [Held(len(rows), total)]
    for transaction in workloads.transactions(workload, options, phases):
        for kind, key, value in transaction:
            there = key in rows
            if not operations.kinds()[kind].mutates or there == (kind == "insert"):
                continue
            total -= of(key, rows.pop(key)) if there else 0
            if kind != "delete":
                rows[key] = value
                total += of(key, value)
        total &= (1 << 64) - 1
        found.append(Held(len(rows), total))
    return found
