"""Open a results database, or say in one line why it cannot be used."""

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
from commitpath.database import limits

DATABASE = RESULTS / "results.sqlite"
SCHEMA = Path(__file__).with_name("schema.sql")
VERSION = 5
# Databases that an older commitpath made are read, and made of this version when they are written to: only
# columns that are computed from a row's documents differ, and have nothing in the file.
OLDER = (1, 2, 3, 4)
# In version 1 what a cell requests is another part, from the first of these to before the second.
FIRST = Path(__file__).with_name("schema-1.sql")
REQUESTED = "  -- requested, which", "  -- effective, read back"
# Versions before 3 have no such columns.
CUTS = "  -- what cuts took", "  PRIMARY KEY (lab, cell_id, run_id)"
# What versions before 5, before 4 and before 3 have in the place of some words of it.
WITHOUT_SYNCHRONOUS = (("iif(engine = 'ppl', NULL,", "iif(engine IN ('ppl', 'ssl'), NULL,"),)
WITHOUT_PPL = (
    ("engine IN ('ppl', 'sqlite', 'ssl')", "engine IN ('sqlite', 'ssl')"),
    ("iif(engine IN ('ppl', 'ssl'), NULL,", "iif(engine = 'ssl', NULL,"),
)
EARLIER = (
    ("engine IN ('sqlite', 'ssl')", "engine = 'sqlite'"),
    (
        "iif(engine = 'ssl', NULL, coalesce(cell ->> '$.synchronous', cell ->> '$.sync'))",
        "coalesce(cell ->> '$.synchronous', cell ->> '$.sync')",
    ),
    (
        "What an engine does not have is NULL in its runs,",
        "What only SQLite has is NULL in a run of another engine,",
    ),
)
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


def schema(version: int = VERSION) -> str:
    """The SQL that makes a database of a version."""
    text = SCHEMA.read_text()
    if version < 5:
        text = with_words(text, WITHOUT_SYNCHRONOUS)
    if version < 4:
        text = with_words(text, WITHOUT_PPL)
    if version < 3:
        text = with_words(with_part(text, CUTS, ""), EARLIER)
    if version < 2:
        text = with_part(text, REQUESTED, FIRST.read_text())
    return text


def with_words(text: str, words: tuple[tuple[str, str], ...]) -> str:
    """A text with the second of each two in the place of the first."""
    for now, earlier in words:
        text = text.replace(now, earlier)
    return text


def with_part(text: str, ends: tuple[str, str], part: str) -> str:
    """A text with another part from the first of its ends to before the second."""
    head, _, rest = text.partition(ends[0])
    return f"{head}{part}{ends[1]}{rest.partition(ends[1])[2]}"


def create(path: Path, label: str = UNNAMED) -> None:
    """Make an empty database of a lab; it appears only when whole, and not if another call was first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = scratch.file(path)
    connection = sqlite3.connect(part)
    try:
        connection.executescript(schema())
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
    lock for writing at once, and make an older database one of this version; without it
    nothing is written, nor beside it, but that a write to the own database which was cut short
    is rolled back. Text that is not UTF-8 comes with halves of characters in it (rows.fault).
    Raises DatabaseError.
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
            distrust(connection)
            if not write:
                connection.execute("PRAGMA query_only=ON")
            check(connection, path)
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            if write:
                upgrade(connection, path)
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


def distrust(connection: sqlite3.Connection) -> None:
    """Let nothing that a broken page says do harm (sqlite.org/security.html).

    Not PRAGMA trusted_schema=OFF, as SQLite 3.40 does not take ->> for a harmless function: `check`
    has the schema compared before anything of it is run.
    """
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.PACKED_BYTES)
    for limit in (sqlite3.SQLITE_LIMIT_SQL_LENGTH, sqlite3.SQLITE_LIMIT_VDBE_OP):
        connection.setlimit(limit, 100_000)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    connection.execute("PRAGMA cell_size_check=ON")
    connection.execute("PRAGMA mmap_size=0")


def schema_of(connection: sqlite3.Connection) -> set[tuple[str, ...]]:
    """What there is in a database: type, name, table and SQL of each."""
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    return {(*map(str, row[:3]), " ".join(str(row[3] or "").split())) for row in map(tuple, found)}


@functools.cache
def own_schema(version: int) -> set[tuple[str, ...]]:
    """The same of a database that is made here, or was by an older commitpath."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema(version))
        return schema_of(connection)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a whole database of this schema version, or an older one.

    Its schema must be ours to the letter before anything is read: a view may be endless, and
    a column or a check may be computed by whatever the file says.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise DatabaseError(f"{path}: not a results database of commitpath")
    if version not in (VERSION, *OLDER):
        known = ", ".join(map(str, sorted((VERSION, *OLDER))))
        raise DatabaseError(
            f"{path}: schema version {version}; this commitpath reads {known} "
            "(use the commitpath that wrote it, or make it again from its runs: make results REBUILD=yes)"
        )
    if others := schema_of(connection) ^ own_schema(version):
        kind, name, *_ = min(others, key=lambda other: (other[1].startswith("sqlite_"), other))
        raise DatabaseError(
            f"{path}: {kind} {name} is not as schema version {version} has it; {remedy(path)}"
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


def upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Make a database of an older commitpath one of this version: its rows stay where they are.

    It is checked already (check), and locked for writing: so nobody has made it so since the version
    was read here, and nobody reads half of it.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in OLDER:
        return
    # no column that is stored differs (OLDER), so the text of the tables is all there is to change:
    # sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes"
    connection.execute("PRAGMA writable_schema=ON")
    with contextlib.closing(sqlite3.connect(":memory:")) as new:
        new.executescript(schema())
        tables = new.execute("SELECT sql, name FROM sqlite_schema WHERE sql NOT NULL").fetchall()
    connection.executemany("UPDATE sqlite_schema SET sql = ? WHERE name = ?", tables)
    (changes,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute(f"PRAGMA schema_version={changes + 1}")
    connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("PRAGMA writable_schema=RESET")
    connection.execute("COMMIT")
    print(f"commitpath: {path}: was of an older commitpath; now of schema version {VERSION}", file=sys.stderr)
    connection.execute("BEGIN IMMEDIATE")


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
