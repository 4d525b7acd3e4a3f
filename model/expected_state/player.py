"""Sandboxed process: execute a run's SQL in SQLite, print the hash of its rows after chosen transactions.

oracle.py starts it (`python -m model.expected_state.player`). The text may come from anybody's file or
another lab's run. It may only change one database in memory, within limits of time and memory, and reads and
writes no file of the host.
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
from model.expected_state import nondeterministic_calls
from model.expected_state.hashes import Held, Looks
from model.statements import sqlfile
from model.statements.sqlfile import Statement

# CPU time of all statements; a board would take much longer.
SECONDS = 60
# In addition to the process's memory at the begin.
MEMORY_BYTES = 2 << 30
# CPU time including all looks at the database.
ALL_SECONDS = 3600
# Exit code after a line with the reason why the outcome is not known.
UNKNOWN = 3
# PRAGMAs that this program uses itself.
_OWN = frozenset({"schema_version", "page_count", "page_size", *sqlfile.KEPT})
# Virtual tables without a schema, with content that depends on pages or on the program.
_UNSTABLE = frozenset({"dbstat", "sqlite_stmt", "sqlite_dbpage"})


class UnknownError(ValueError):
    """The expected content of a database is not known; the text begins with the line."""


class Played(NamedTuple):
    """Number of transactions → content after them, and the larger size of the database at begin and end."""

    after: Mapping[int, Held]
    bytes: int


class Player:
    """Executes a text once; knows its current line and the CPU time of its statements."""

    def __init__(self, kind: str, text: str, numbers: frozenset[int]) -> None:
        self._kind, self._text, self._numbers = kind, text, numbers
        # calls that are not deterministic
        self._used = list[str]()
        self._spent, self._begun, self.line = 0.0, 0.0, 1
        self._is_theirs = False

    def seconds(self) -> float:
        """Return the CPU seconds of its statements so far."""
        return self._spent + (time.process_time() - begun if (begun := self._begun) else 0.0)

    def play(self) -> Played:
        """Execute it. Raises UnknownError for a transaction that fails or is not deterministic."""
        parts = userfile.parts({self._kind: self._text})
        with self._connected() as made, self._connected() as database:
            made.execute("BEGIN")
            for statement in parts.schema:
                self._run(made, statement)
            made.execute("COMMIT")
            # as the driver opens it again: no changes, no last rowid
            made.backup(database)
            looks, known = Looks(database), dict[int, Held]()
            begun, last, held = _bytes(database), None, Held(0, 0)
            for number, transaction in enumerate((None, *parts.transactions)):
                for part in sqlfile.statements(transaction.text, transaction.line) if transaction else ():
                    self._run(database, part)
                if number in self._numbers:
                    if (state := _state(database)) != last:
                        with self._errors("the content cannot be read: "):
                            last, held = state, looks.all()
                    known[number] = held
            if not self._numbers:
                # a check before a board runs it
                with self._errors("the content cannot be read: "), self._timed():
                    looks.read()
            return Played(known, max(begun, _bytes(database)))

    def _run(self, database: sqlite3.Connection, statement: Statement) -> None:
        """Execute a statement as the driver does."""
        self.line = statement.line
        if statement.words[:2] == ("CREATE", "VIRTUAL"):
            raise UnknownError(f"line {self.line}: how a virtual table keeps its rows is its module's")
        with self._errors(""), self._timed():
            self._is_theirs = True
            for _ in database.execute(statement.text):
                pass
        self._is_theirs = False

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        self._begun = time.process_time()
        yield
        self._spent, self._begun = self.seconds(), 0.0

    @contextlib.contextmanager
    def _errors(self, prefix: str) -> Iterator[None]:
        """Raise UnknownError with the line for an error of SQLite, or a call that is not deterministic."""
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning) as error:
            if not self._used:
                reason = f"{prefix}{error} (SQLite {sqlite3.sqlite_version} of this host)"
                raise UnknownError(f"line {self.line}: {reason}") from None
        if self._used:
            raise UnknownError(f"line {self.line}: what {self._used[0]} gives is not the same each time")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        made, plain = (sqlite3.connect(":memory:", isolation_level=None) for _ in range(2))
        with contextlib.closing(made), contextlib.closing(plain):
            # a text need not be UTF-8
            made.text_factory = bytes
            made.execute("PRAGMA temp_store=memory")
            nondeterministic_calls.watch(made, plain, self._used)
            made.set_authorizer(self._may)
            yield made

    def _may(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """Authorize an action of SQLite: it must not leave the database or depend on its file."""
        name = (first or "").lower()
        # VACUUM attaches a database without a name
        denied = action == sqlite3.SQLITE_ATTACH and name != ""
        denied |= action in (sqlite3.SQLITE_DETACH, sqlite3.SQLITE_CREATE_VTABLE)
        denied |= action == sqlite3.SQLITE_FUNCTION and second in ("load_extension", "fts3_tokenizer")
        allowed = sqlfile.ALLOWED if self._is_theirs else _OWN
        if (action == sqlite3.SQLITE_PRAGMA and name not in allowed) or (
            action == sqlite3.SQLITE_READ and name in _UNSTABLE
        ):
            self._used.append(f"{'PRAGMA ' if action == sqlite3.SQLITE_PRAGMA else ''}{name}")
            denied = True
        return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK


def _state(database: sqlite3.Connection) -> tuple[int, ...]:
    """Return numbers that change with any change of the database."""
    names = ("schema_version", "user_version", "application_id")
    return database.total_changes, *(database.execute(f"PRAGMA {name}").fetchone()[0] for name in names)


def _bytes(database: sqlite3.Connection) -> int:
    count, size = (database.execute(f"PRAGMA page_{name}").fetchone()[0] for name in ("count", "size"))
    return int(count * size)


def _end(line: str, status: int) -> None:
    """Print a line and end the process, even if SQLite is executing."""
    print(printable(line), flush=True)
    os._exit(status)


def _play(player: Player) -> None:
    try:
        played = player.play()
        after = [(number, *held) for number, held in played.after.items()]
        _end(json.dumps({"after": after, "bytes": played.bytes}), 0)
    except MemoryError:
        _end(f"line {player.line}: it takes more than {MEMORY_BYTES >> 20} MiB of memory", UNKNOWN)
    except ValueError as error:
        _end(str(error), UNKNOWN)


def main() -> None:
    """Execute the text on stdin (oracle.py), and end."""
    kind, text, numbers = json.load(sys.stdin)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (ALL_SECONDS,) * 2)
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    player = Player(kind, text, frozenset(numbers))
    # SQLite lets another thread run while it executes, but handles no signal
    worker = threading.Thread(target=_play, args=(player,), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.5)
        if player.seconds() > SECONDS:
            _end(f"line {player.line}: its SQL takes more than {SECONDS} s of a CPU", UNKNOWN)
    sys.exit(1)


if __name__ == "__main__":
    main()
