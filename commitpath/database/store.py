"""Create, check and open results.sqlite; every fault is a DatabaseError of one line."""

import contextlib
import functools
import re
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from base import scratch
from base.errors import EXIT_FAILED, LabError
from base.paths import RESULTS

DATABASE = RESULTS / "results.sqlite"
SCHEMA = Path(__file__).with_name("schema.sql")
VERSION = 8
# "cmtp"; identifies our databases
APPLICATION_ID = 0x636D7470
# wait for another process's write
WAIT_SECONDS = 5.0
# SQLite's messages for no space,
FULL = "database or disk is full"
# and for a file or disk that may not be written
CLOSED = "attempt to write a readonly database"
# our message after the wait for another process
BUSY = "another process is writing to it"
# label of a lab without one
UNNAMED = "local"
LABEL = r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}"
# Databases that this process has checked: a check reads the whole file.
_CHECKED: set[Path] = set()


class DatabaseError(LabError):
    """A database that cannot be used; it was left as it was."""

    exit_code = EXIT_FAILED


def create(path: Path, label: str = UNNAMED) -> None:
    """Make an empty database; it appears only when whole, and not if another call was first.

    Raises DatabaseError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = scratch.file(path)
    try:
        with explained(path), contextlib.closing(sqlite3.connect(part)) as connection:
            connection.executescript(SCHEMA.read_text())
            connection.execute("INSERT INTO lab VALUES (?)", (label,))
            connection.execute(f"PRAGMA user_version={VERSION}")
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.commit()
        # a rename would replace another call's database, with its rows
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(part)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def opened(path: Path | None = None, write: bool = True) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a database, in one transaction.

    path: results/results.sqlite by default, made if it is missing, upgraded if it is older. write: take the
    lock for writing at once; otherwise nothing is written, but an interrupted write to this lab's database is
    rolled back. Text that is not UTF-8 has surrogates (row_checks.fault). Raises DatabaseError.
    """
    path = path or DATABASE
    if not path.exists():
        if path != DATABASE:
            raise DatabaseError(f"{path}: no such file")
        create(path)
    check_regular(path)
    with explained(path):
        # a connection that may not write cannot roll back either
        mode = "rw" if write or (path == DATABASE and cut_short(path)) else "ro"
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=WAIT_SECONDS, isolation_level=None
        )
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    try:
        with explained(path):
            if not write:
                connection.execute("PRAGMA query_only=ON")
            if path not in _CHECKED:
                check(connection, path)
                if path == DATABASE and outdated(connection):
                    upgrade()
                _CHECKED.add(path)
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            with explained(path):
                yield connection
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        with explained(path):
            connection.execute("COMMIT")
    finally:
        connection.close()


def check_regular(path: Path) -> None:
    """Refuse a FIFO or a folder as database, journal or WAL: SQLite would wait for it, deaf to signals."""
    for file in (path, *(path.with_name(f"{path.name}-{kind}") for kind in ("journal", "wal", "shm"))):
        # once: a journal comes and goes while another process writes
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if stat.S_ISREG(file.stat().st_mode):
                continue
            raise DatabaseError(f"{file}: not a file; {remedy(path)}")


def cut_short(path: Path) -> bool:
    """Return whether a database has a journal: another process writes to it, or was killed while writing."""
    return any(path.with_name(f"{path.name}-{kind}").exists() for kind in ("journal", "wal"))


@functools.cache
def tables() -> dict[str, str]:
    """Return table → its SQL in schema.sql, as SQLite stores it."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA.read_text())
        return stored_tables(connection)


def stored_tables(connection: sqlite3.Connection) -> dict[str, str]:
    """Return table → its SQL in a database."""
    return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall())


def outdated(connection: sqlite3.Connection) -> list[str]:
    """Return the tables that differ from those of schema.sql."""
    have = stored_tables(connection)
    return [name for name, sql in tables().items() if bare(have.get(name, "")) != bare(sql)]


def bare(sql: str) -> str:
    """Return SQL without comments and white space."""
    return re.sub(r"--.*|\s", "", sql)


def upgrade() -> None:
    """Make the tables of this lab's database those of schema.sql; their rows stay.

    Stored columns are copied, since version 0.1.0 the same ones; the others are computed from them.
    """
    with contextlib.closing(sqlite3.connect(DATABASE, WAIT_SECONDS, isolation_level=None)) as connection:
        # damaged rows stay for row_checks, and a user's views, indexes and triggers
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("PRAGMA legacy_alter_table=ON")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        # none if another process was first
        for table in outdated(connection):
            own = connection.execute(
                "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND type <> 'table' AND sql > ''", [table]
            ).fetchall()
            connection.execute(f"ALTER TABLE {table} RENAME TO older")
            connection.execute(tables()[table])
            # without generated ones
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
            connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM older")
            connection.execute("DROP TABLE older")
            for (sql,) in own:
                connection.execute(sql)
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
    if version != VERSION:
        print(f"commitpath: {DATABASE}: schema version {version} is now {VERSION}", file=sys.stderr)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a whole database of this schema version or an earlier one."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise DatabaseError(f"{path}: not a results database of commitpath; {remedy(path)}")
    if version > VERSION:
        raise DatabaseError(
            f"{path}: schema version {version}; this commitpath reads up to {VERSION} "
            "(use the commitpath that wrote it, or make it again from its runs: make results REBUILD=yes)"
        )
    # JSON is checked per row by row_checks.fault: one bad row does not make a file unusable
    connection.execute("PRAGMA ignore_check_constraints=ON")
    try:
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        # of a generated column, computed for each row
        if str(error) != "malformed JSON":
            raise
        result = "ok"
    connection.execute("PRAGMA ignore_check_constraints=OFF")
    if result != "ok":
        raise DatabaseError(f"{path}: corrupt: {' '.join(result.split())}; {remedy(path)}")


def remedy(path: Path) -> str:
    """Return the remedy for an unreadable file."""
    again = "; `make results REBUILD=yes` makes it again from the runs" if path == DATABASE else ""
    return f"nothing was changed{again}"


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as DatabaseError of one line, with the remedy."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise DatabaseError(
                f"{path}: {BUSY} (waited {WAIT_SECONDS:.0f} s); nothing was changed; try again"
            ) from error
        more = "nothing was changed" if str(error) in (FULL, CLOSED) else remedy(path)
        if str(error) == CLOSED and cut_short(path):
            more = (
                f"a write to it was cut short, and its journal ({path.name}-journal) cannot be rolled back; "
                f"{remedy(path)}"
            )
        raise DatabaseError(f"{path}: {error}; {more}") from error
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path}: not a database that can be read ({error}); {remedy(path)}") from error


def passes(error: DatabaseError) -> bool:
    """Return whether the file is not at fault: no space, no permission, or another process is writing."""
    return any(text in str(error) for text in (FULL, CLOSED, BUSY))


def path_of(connection: sqlite3.Connection) -> str:
    """Return the file of a connection."""
    return str(connection.execute("PRAGMA database_list").fetchone()[2])


def label(connection: sqlite3.Connection) -> str:
    """Return the label of the lab of a database."""
    labels = [row[0] for row in connection.execute("SELECT label FROM lab LIMIT 2")]
    if len(labels) != 1 or not isinstance(labels[0], str) or not re.fullmatch(LABEL, labels[0]):
        raise DatabaseError(f"{path_of(connection)}: table lab: {labels!r} is not one label ({LABEL})")
    return labels[0]
