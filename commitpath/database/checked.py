"""`python -m commitpath.database.checked FILE CLEAN all|sound`: FILE's rows, checked, in a new database.

The process that meets another lab's file: what it may use is limited, and nobody else opens the
file. Of a row that is not what it should be: `all` refuses the file, `sound` leaves the row out.
It says so on stderr, in lines for the user.
"""

import contextlib
import resource
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from base.text import printable
from commitpath.database import files, limits, rows, store
from commitpath.database.store import DatabaseError


def copy(source: Path, clean: Path, refuse: bool) -> list[str]:
    """Copy what is sound of a database of another lab; which rows were left out. Raises DatabaseError."""
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(source.stat().st_mode):
            raise DatabaseError(f"{source}: not a file")
        if source.stat().st_size > limits.DATABASE_BYTES:
            raise DatabaseError(f"{source}: more than {limits.DATABASE_BYTES} bytes")
    with store.opened(source, write=False) as theirs:
        return copy_rows(theirs, clean, refuse=str(source) if refuse else None)


def copy_rows(theirs: sqlite3.Connection, clean: Path, refuse: str | None = None) -> list[str]:
    """Make a database of the sound rows of another; a line for each that is left out.

    refuse: the name of a file of which no row may be left out (DatabaseError).
    """
    store.create(clean, store.label(theirs))
    said: list[str] = []
    left_out: set[tuple[object, ...]] = set()
    unpacked = files.Unpacked()
    with store.opened(clean) as ours:
        for table, columns in rows.COLUMNS.items():
            insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            for number, row in enumerate(rows.stored(theirs, table)):
                if number >= limits.ROWS:
                    raise DatabaseError(f"more than {limits.ROWS} rows in {table}")
                key = (row["lab"], row["cell_id"], row["run_id"]) if table in ("run", "file") else ()
                if table == "file" and key in left_out:
                    continue  # with its run, which was named
                wrong = rows.fault(table, row)
                if not wrong and table == "file":
                    wrong = unpacked.fault(row)
                if not wrong:
                    try:
                        ours.execute(insert, tuple(row[column] for column in columns))
                        continue
                    except sqlite3.IntegrityError as error:
                        wrong = f"{error}"
                line = f"{rows.name(table, row)}: {wrong}"
                if refuse:
                    raise DatabaseError(f"{refuse}: {line}; nothing was imported")
                said.append(f"left out: {line}")
                if table == "run":
                    left_out.add(key)
    return said


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Limit this process; what SQLite or Python do when memory ends is one DatabaseError."""
    resource.setrlimit(resource.RLIMIT_AS, (limits.MEMORY_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (limits.CPU_SECONDS, limits.CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.DATABASE_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        yield
    except MemoryError:
        raise DatabaseError(f"it takes more than {limits.MEMORY_BYTES} bytes of memory to check") from None


def main() -> int:
    """Run the command line; every failure is one line."""
    source, clean, what = sys.argv[1:]
    try:
        with limited():
            said = copy(Path(source), Path(clean), refuse=what == "all")
    except DatabaseError as error:
        print(printable(error), file=sys.stderr)
        return 1
    for line in said:
        print(line, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
