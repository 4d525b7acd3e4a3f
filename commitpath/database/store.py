"""Open a results database, or say in one line why it cannot be used."""

import contextlib
import re
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

from base import scratch
from base.errors import EXIT_FAILED, LabError
from base.paths import RESULTS

DATABASE = RESULTS / "results.sqlite"
SCHEMA = Path(__file__).with_name("schema.sql")
VERSION = 6
# "cmtp", so that another program's database is not taken for one of ours
APPLICATION_ID = 0x636D7470
# how long another process's write is waited for
WAIT_SECONDS = 5.0
# what SQLite says where there is no room
FULL = "database or disk is full"
# and where a file, or its disk, may not be written
CLOSED = "attempt to write a readonly database"
# what is said where another process's write was waited for
BUSY = "another process is writing to it"
# label of a lab that has not been given one
UNNAMED = "local"
LABEL = r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}"


class DatabaseError(LabError):
    """A database that cannot be used; it was left as it was."""

    exit_code = EXIT_FAILED


def create(path: Path, label: str = UNNAMED) -> None:
    """Make an empty database of a lab; it appears only when whole, and not if another call was first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = scratch.file(path)
    connection = sqlite3.connect(part)
    try:
        connection.executescript(SCHEMA.read_text())
        connection.execute("INSERT INTO lab VALUES (?)", (label,))
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.commit()
        connection.close()
        # a rename would put it in place of another call's, and of the rows that are in it by now
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(part)
    finally:
        connection.close()
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def opened(path: Path | None = None, write: bool = True) -> Iterator[sqlite3.Connection]:
    """A connection to a database, in one transaction: all of it is kept, or nothing.

    path: results/results.sqlite by default, made if it is not there. write: take the
    lock for writing at once; without it nothing is written, nor beside it, but that a write to the
    own database which was cut short is rolled back. Text that is not UTF-8 comes with halves of
    characters in it (rows.fault). Raises DatabaseError.
    """
    path = path or DATABASE
    if not path.exists():
        if path != DATABASE:
            raise DatabaseError(f"{path}: no such file")
        with explained(path):
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
            check(connection, path)
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
    """Refuse a FIFO or a folder, beside the database too: SQLite waits for one, and no signal ends that."""
    for file in (path, *(path.with_name(f"{path.name}-{kind}") for kind in ("journal", "wal", "shm"))):
        # once: a journal comes and goes while another process writes
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if stat.S_ISREG(file.stat().st_mode):
                continue
            raise DatabaseError(f"{file}: not a file; {remedy(path)}")


def cut_short(path: Path) -> bool:
    """Whether another process writes to a database, or did so and was killed: a journal is beside it."""
    return any(path.with_name(f"{path.name}-{kind}").exists() for kind in ("journal", "wal"))


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a whole database of this schema version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise DatabaseError(f"{path}: not a results database of commitpath")
    if version != VERSION:
        raise DatabaseError(
            f"{path}: schema version {version}; this commitpath reads {VERSION} "
            "(use the commitpath that wrote it, or make it again from its runs: make results REBUILD=yes)"
        )
    # whether a row's JSON is any is for rows.fault to say: one bad row is no broken file
    connection.execute("PRAGMA ignore_check_constraints=ON")
    try:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        # of a generated column, which it computes for each row
        if str(error) != "malformed JSON":
            raise
        found = "ok"
    connection.execute("PRAGMA ignore_check_constraints=OFF")
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
                f"{path}: {BUSY} (waited {WAIT_SECONDS:.0f} s); nothing was changed; try again"
            ) from error
        what = "nothing was changed" if str(error) in (FULL, CLOSED) else remedy(path)
        if str(error) == CLOSED and cut_short(path):
            journal = (
                f"a write to it was cut short, and its journal ({path.name}-journal) cannot be rolled back"
            )
            what = f"{journal}; {remedy(path)}"
        raise DatabaseError(f"{path}: {error}; {what}") from error
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path}: not a database that can be read ({error}); {remedy(path)}") from error


def passes(error: DatabaseError) -> bool:
    """Whether it is no fault of a file: there is no room, it is closed to us, or held by another process."""
    return any(said in str(error) for said in (FULL, CLOSED, BUSY))


def path_of(connection: sqlite3.Connection) -> str:
    """The file that a connection is to."""
    return str(connection.execute("PRAGMA database_list").fetchone()[2])


def label(connection: sqlite3.Connection) -> str:
    """The label of this database's own runs."""
    labels = [row[0] for row in connection.execute("SELECT label FROM lab LIMIT 2")]
    if len(labels) != 1 or not isinstance(labels[0], str) or not re.fullmatch(LABEL, labels[0]):
        raise DatabaseError(f"{path_of(connection)}: table lab: {labels!r} is not one label ({LABEL})")
    return labels[0]
