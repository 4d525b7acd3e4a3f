"""Compute the expected content of a database after each transaction of a run, as a hash of its rows.

The rows are the workload's, computed on the host (model/workloads/), or those of this Python's SQLite in
memory after the cell's SQL. They do not depend on anything that the board did, nor on its release. If another
release gives other rows, the first and last trial differ (checks/trial_plan.py). The SQL runs in a sandboxed
process (player.py). An engine without SQL has a key and a value of each.
"""

import functools
import itertools
import json
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from base.paths import PYTHON, ROOT
from model import engines, operations, userfile, workloads
from model.cell import Cell
from model.expected_state import hashes, player
from model.expected_state.hashes import Held, Text
from model.expected_state.player import Played, UnknownError

_WORD = (1 << 64) - 1
# The driver's workload for SQL text in the cell.
_SQL = "sql"
# The table of a second writer (workloads/engines/sqlite/writers.c).
_SECOND_TABLE = "second_writer"


def is_known(workload: Mapping[str, Any]) -> bool:
    """Return whether the expected rows of a workload, by its profile, can be computed."""
    name = str(workload["driver_workload"])
    return name == _SQL or hasattr(workloads.by_name(name), "row")


def is_played(cell: Cell) -> bool:
    """Return whether the expected rows of a cell come from executing its SQL."""
    return bool(cell.profiles["workload"]["driver_workload"] == _SQL)


def after(
    cell: Cell, phases: list[str], numbers: Iterable[int], writers: Sequence[int] = ()
) -> Mapping[int, Held]:
    """Return the content after at least these numbers of transactions of a run with these phases.

    writers: as of after_each. Raises ValueError if it is not known.
    """
    if is_played(cell):
        return play(cell.profiles["file"], frozenset(numbers)).after
    return dict(enumerate(after_each(cell, phases, writers)))


def check(cell: Cell) -> None:
    """Raise ValueError, with a text that begins with the line, if a user's SQL has no known outcome."""
    if is_played(cell) and userfile.text_of(cell.profiles["file"])[0] in userfile.USERS:
        play(cell.profiles["file"])


def size(cell: Cell) -> int:
    """Return the approximate bytes of a cell's database."""
    if is_played(cell):
        return play(cell.profiles["file"]).bytes
    return int(cell.rows * cell.value_size)


def tables(cell: Cell) -> list[str]:
    """Return the tables with known rows; empty: the whole database is known."""
    workload = workloads.by_name(str(cell.profiles["workload"]["driver_workload"]))
    if is_played(cell) or workload is None:
        return []
    return [workload.TABLE, _SECOND_TABLE] if cell.writers == "2" else [workload.TABLE]


def after_each(cell: Cell, phases: list[str], writers: Sequence[int] = ()) -> list[Held]:
    """Return the content after m transactions of a run with these phases, m from 0 on.

    writers: 1 or 2 for each, in the order of the commits; empty with one writer. Raises ValueError if the
    content is not known.
    """
    content, transactions = changes(cell, phases, writers)
    states = [content.held()]
    for transaction in transactions:
        content.apply(transaction)
        states.append(content.held())
    return states


class Change(NamedTuple):
    """A write to a key. hash: of the row after it; None: it is deleted. adds: also if the row is missing."""

    key: int
    hash: int | None
    adds: bool


class Content:
    """The rows of a workload's table, by key."""

    def __init__(self, rows: Mapping[int, int]) -> None:
        """rows: key → hash."""
        self.rows, self.total = dict(rows), sum(rows.values()) & _WORD

    def held(self) -> Held:
        """Return the number of rows and their hash."""
        return Held(len(self.rows), self.total)

    def apply(self, transaction: Sequence[Change]) -> None:
        """Apply the changes of a transaction."""
        for key, row, adds in transaction:
            if key not in self.rows and not adds:
                continue
            total = self.total - self.rows.pop(key, 0)
            if row is not None:
                self.rows[key] = row
                total += row
            self.total = total & _WORD


def changes(
    cell: Cell, phases: list[str], writers: Sequence[int] = ()
) -> tuple[Content, Iterator[tuple[Change, ...]]]:
    """Return the content before a run, and the changes of each transaction.

    writers: as of after_each. Raises ValueError if they are not known.
    """
    workload = workloads.by_name(name := str(cell.profiles["workload"]["driver_workload"]))
    if workload is None or not is_known(cell.profiles["workload"]):
        raise ValueError(f"the rows of {name} are not known")
    options, engine = workloads.options(cell), engines.by_name(cell.engine)

    def row_hash(key: int, value: bytes) -> int:
        return hashes.row_hash(workload.row(key, Text(value)) if engine.has_sql else (key, Text(value)))

    def change(kind: str, key: int, value: bytes) -> Change:
        if kind == "delete":
            return Change(key, None, False)
        return Change(key, row_hash(key, value), kind == "insert" or engine.ADDS_MISSING)

    own = (
        tuple(
            change(kind, key, value)
            for kind, key, value, _ in transaction
            if operations.kinds()[kind].mutates
        )
        for transaction in workloads.transactions(workload, options, phases)
    )
    content = Content({key: row_hash(key, value) for key, value in workload.filled(options)})
    if not writers:
        return content, own
    second = _second_writer(cell.value_size)
    return content, (next(own if writer == 1 else second) for writer in writers)


def _second_writer(value_size: int) -> Iterator[tuple[Change, ...]]:
    """Yield the second writer's inserts. Their keys are negative, and those of a workload are not."""
    value = Text(b"x" * value_size)
    for row in itertools.count(1):
        yield (Change(-row, hashes.row_hash((row, value)), True),)


def play(profile: Mapping[str, Any], numbers: frozenset[int] = frozenset()) -> Played:
    """Execute a cell's transactions (profiles.file); return the content after these numbers of them.

    Raises UnknownError for a transaction that fails or is not deterministic.
    """
    return _play(*userfile.text_of(profile), numbers)


# verdict, checks and files of a run request the same
@functools.lru_cache(maxsize=4)
def _play(kind: str, text: str, numbers: frozenset[int]) -> Played:
    done = subprocess.run(
        [*PYTHON, "-m", player.__name__],
        cwd=ROOT,
        input=json.dumps((kind, text, sorted(numbers))),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == player.UNKNOWN:
        raise UnknownError(done.stdout.rstrip("\n"))
    if done.returncode:
        lines = done.stderr.splitlines() or [f"status {done.returncode}"]
        end = signal.Signals(-done.returncode).name if done.returncode < 0 else lines[-1]
        raise UnknownError(f"line 1: this host's SQLite does not play it to the end ({end})")
    played = json.loads(done.stdout)
    return Played({number: Held(rows, total) for number, rows, total in played["after"]}, played["bytes"])
