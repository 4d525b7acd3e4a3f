"""Plays a cell's SQL for replayed.py, in a process of its own: `python -m model.expected_state.player`.

The text may be anyone's: it came with a file, or with another lab's run. All that it may do is what
statements do to one database in memory, within so much time and memory; no file of the host is read or
written.
"""

import contextlib
import json
import os
import resource
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from base.text import printable
from model import userfile
from model.expected_state import functions
from model.expected_state.hashes import Held, Looks
from model.statements import sqlfile
from model.statements.sqlfile import Statement

# Of a CPU, for all statements together: on a board they would take longer by far.
SECONDS = 60
# Beside what the process has before it plays.
MEMORY_BYTES = 2 << 30
# With all that is looked at.
ALL_SECONDS = 3600
# Its exit code after the line that says why it is not known what there must be.
UNKNOWN = 3
# PRAGMAs by which it is looked at.
_OWN = frozenset({"schema_version", "page_count", "page_size", *sqlfile.KEPT})
# Tables without a schema that tell of pages and of the program.
_TELLING = frozenset({"dbstat", "sqlite_stmt", "sqlite_dbpage"})


class UnknownError(ValueError):
    """Why it is not known what a database must hold; its text begins with the line."""


class Played(NamedTuple):
    """What was looked at, and how large the database was at its begin or end, the larger."""

    after: Mapping[int, Held]  # so many transactions
    bytes: int


class Player:
    """Plays a text once, and says of what line it is and for how long its statements have run."""

    def __init__(self, kind: str, text: str, asked: frozenset[int]) -> None:
        self._kind, self._text, self._asked = kind, text, asked
        # what was called that is not the same each time
        self._used = list[str]()
        self._spent, self._begun, self.line = 0.0, 0.0, 1
        self._is_theirs = False

    def seconds(self) -> float:
        """Return the CPU seconds of its statements so far."""
        return self._spent + (time.process_time() - begun if (begun := self._begun) else 0.0)

    def play(self) -> Played:
        """Play it. Raises UnknownError for a transaction that fails, or whose outcome is not the statements'
        alone."""
        parts = userfile.parts({self._kind: self._text})
        with self._connected() as made, self._connected() as database:
            made.execute("BEGIN")
            for one in parts.schema:
                self._run(made, one)
            made.execute("COMMIT")
            # as the driver opens it anew: no changes, no last rowid
            made.backup(database)
            looks, known = Looks(database), dict[int, Held]()
            begun, last, held = _bytes(database), None, Held(0, 0)
            for number, transaction in enumerate((None, *parts.transactions)):
                for one in sqlfile.statements(transaction.text, transaction.line) if transaction else ():
                    self._run(database, one)
                if number in self._asked:
                    if (state := _state(database)) != last:
                        with self._told("what is there cannot be read: "):
                            last, held = state, looks.all()
                    known[number] = held
            if not self._asked:
                # before a board runs it
                with self._told("what is there cannot be read: "), self._timed():
                    looks.read()
            return Played(known, max(begun, _bytes(database)))

    def _run(self, database: sqlite3.Connection, one: Statement) -> None:
        """Execute a statement as the driver does."""
        self.line = one.line
        if one.words[:2] == ("CREATE", "VIRTUAL"):
            raise UnknownError(f"line {one.line}: how a virtual table keeps its rows is its module's")
        with self._told(""), self._timed():
            self._is_theirs = True
            for _ in database.execute(one.text):
                pass
        self._is_theirs = False

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        self._begun = time.process_time()
        yield
        self._spent, self._begun = self.seconds(), 0.0

    @contextlib.contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Whatever SQLite says to a statement, or what it called, is an UnknownError with the line."""
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning) as error:
            if not self._used:
                said = f"{what}{error} (SQLite {sqlite3.sqlite_version} of this host)"
                raise UnknownError(f"line {self.line}: {said}") from None
        if self._used:
            raise UnknownError(f"line {self.line}: what {self._used[0]} gives is not the same each time")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        made, plain = (sqlite3.connect(":memory:", isolation_level=None) for _ in range(2))
        with contextlib.closing(made), contextlib.closing(plain):
            # a text need not be UTF-8
            made.text_factory = bytes
            made.execute("PRAGMA temp_store=memory")
            functions.watch(made, plain, self._used)
            made.set_authorizer(self._may)
            yield made

    def _may(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """Say whether SQLite may do it: not what reaches beyond the database, or tells of its file."""
        name = (first or "").lower()
        # VACUUM attaches a database without a name
        denied = action == sqlite3.SQLITE_ATTACH and name != ""
        denied |= action in (sqlite3.SQLITE_DETACH, sqlite3.SQLITE_CREATE_VTABLE)
        denied |= action == sqlite3.SQLITE_FUNCTION and second in ("load_extension", "fts3_tokenizer")
        allowed = sqlfile.ALLOWED if self._is_theirs else _OWN
        if (action == sqlite3.SQLITE_PRAGMA and name not in allowed) or (
            action == sqlite3.SQLITE_READ and name in _TELLING
        ):
            self._used.append(f"{'PRAGMA ' if action == sqlite3.SQLITE_PRAGMA else ''}{name}")
            denied = True
        return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK


def _state(database: sqlite3.Connection) -> tuple[int, ...]:
    """Return what differs where anything was changed."""
    pragmas = ("schema_version", "user_version", "application_id")
    return database.total_changes, *(database.execute(f"PRAGMA {one}").fetchone()[0] for one in pragmas)


def _bytes(database: sqlite3.Connection) -> int:
    count, size = (database.execute(f"PRAGMA page_{one}").fetchone()[0] for one in ("count", "size"))
    return int(count * size)


def _said(line: str, status: int) -> None:
    """End here, whatever SQLite is at."""
    print(printable(line), flush=True)
    os._exit(status)


def _play(player: Player) -> None:
    try:
        played = player.play()
        found = {"after": [(number, *held) for number, held in played.after.items()], "bytes": played.bytes}
        _said(json.dumps(found), 0)
    except MemoryError:
        _said(f"line {player.line}: it takes more than {MEMORY_BYTES >> 20} MiB of memory", UNKNOWN)
    except ValueError as error:
        _said(str(error), UNKNOWN)


def main() -> None:
    """Play what stdin has (replayed.py), and end."""
    kind, text, asked = json.load(sys.stdin)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (ALL_SECONDS,) * 2)
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    player = Player(kind, text, frozenset(asked))
    # SQLite lets another thread run while it executes, and heeds no signal
    worker = threading.Thread(target=_play, args=(player,), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.5)
        if player.seconds() > SECONDS:
            _said(f"line {player.line}: its SQL takes more than {SECONDS} s of a CPU", UNKNOWN)
    sys.exit(1)


if __name__ == "__main__":
    main()
