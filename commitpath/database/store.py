"""Open a results database, or say in one line why it cannot be used."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from commitpath.cell import RESULTS
from commitpath.errors import EXIT_FAILED, LabError

DATABASE = RESULTS / "results.sqlite"
SCHEMA = Path(__file__).with_name("schema.sql")
VERSION = 1
# "cmtp", so that another program's database is not taken for one of ours
APPLICATION_ID = 0x636D7470
# how long another process's write is waited for
WAIT_SECONDS = 5.0
# label of a lab that has not been given one
UNNAMED = "local"


class DatabaseError(LabError):
    """A database that cannot be used; it was left as it was."""

    exit_code = EXIT_FAILED


def create(path: Path) -> None:
    """Make an empty database; it appears only when whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    connection = sqlite3.connect(part)
    try:
        connection.executescript(SCHEMA.read_text())
        connection.execute("INSERT INTO lab VALUES (?)", (UNNAMED,))
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.commit()
    finally:
        connection.close()
    part.replace(path)


@contextlib.contextmanager
def opened(path: Path | None = None, write: bool = True) -> Iterator[sqlite3.Connection]:
    """A connection to a database, in one transaction: all of it is kept, or nothing.

    path: results/results.sqlite by default, made if it is not there. write: take the
    lock for writing at once. Raises DatabaseError.
    """
    path = path or DATABASE
    if not path.exists():
        if path != DATABASE:
            raise DatabaseError(f"{path}: no such file")
        with explained(path):
            create(path)
    with explained(path):
        connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        with explained(path):
            check(connection, path)
            connection.execute("PRAGMA foreign_keys=ON")
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


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a whole database of this schema version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise DatabaseError(f"{path}: not a results database of commitpath")
    if version != VERSION:
        raise DatabaseError(
            f"{path}: schema version {version}; this commitpath reads version {VERSION} "
            "(use the commitpath that wrote it, or make it again from its runs: make results REBUILD=yes)"
        )
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DatabaseError(f"{path}: corrupt: {' '.join(found.split())}; {remedy(path)}")


def remedy(path: Path) -> str:
    """What helps against a file that cannot be read."""
    again = "; `make results REBUILD=yes` makes it again from the runs" if path == DATABASE else ""
    return f"nothing was changed{again}"


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """SQLite's errors as DatabaseError, in one line."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise DatabaseError(
                f"{path}: another process is writing to it (waited {WAIT_SECONDS:.0f} s); "
                "nothing was changed; try again"
            ) from error
        raise DatabaseError(f"{path}: {error}; {remedy(path)}") from error
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path}: not a database that can be read ({error}); {remedy(path)}") from error


def label(connection: sqlite3.Connection) -> str:
    """The label of this database's own runs."""
    return str(connection.execute("SELECT label FROM lab").fetchone()[0])
