"""Trials whose database is looked at twice: by the board that had the trial, and by the host.

A board keeps the files of every hundredth trial's database as they came up, before anything opens them, and
the host looks at a copy with the same program and the same release
(commitpath/run/sampled_databases.py). The files stay in the run, and here another release reads them
once more: the SQLite of this Python.
"""

import contextlib
import gzip
import sqlite3
import zlib
from pathlib import Path

from base import scratch
from base.errors import BadInput
from model.cell import Cell
from model.expected_state import hashes, oracle
from model.expected_state.hashes import Held

# The first that is sampled, where there are so many, and every so manieth behind it.
_FIRST, _EVERY = 10, 100
# They are kept in a board's memory: databases of so many bytes together.
_ROOM = 128 << 20
# of what both say of a trial
NUMBERS = ("opened", "is_read", "is_whole", "signal", "rows")
FOUND = (*NUMBERS, "hash")
# A file that says why the database's could not be read.
UNREAD = "unread"
_FOLDER = "files"
# No file of a sampled trial is so large.
_MOST_BYTES = 1 << 30


def numbers(cell: Cell, count: int) -> list[int]:
    """Return which of so many trials of a cell are sampled."""
    most = _ROOM // max(1, oracle.size(cell))
    return list(range(min(_FIRST, count // 2), count, _EVERY))[:most]


def folders(raw: Path) -> list[Path]:
    """Return the folders of the trials that a board sampled, each called by the trial's number."""
    return sorted(path for path in raw.glob(f"{_FOLDER}/*") if path.name.isdecimal())


def rows(place: Path, table: str | None) -> Held | None:
    """Return what is in the database whose files a folder has, by Python's SQLite: in a table, or all; None
    where that does not read all of them. Raises BadInput at a file that cannot be unpacked."""
    with scratch.temporary("trial") as folder:
        copies = [_unpacked(path, folder) for path in sorted(place.glob("*.gz"))]
        if not copies:
            return None
        # what else belongs to a database has its name, and something behind
        with contextlib.closing(sqlite3.connect(min(copies, key=lambda path: len(path.name)))) as database:
            try:
                return hashes.table(database, table) if table else hashes.Looks(database).all()
            except sqlite3.Error:
                return None


def _unpacked(path: Path, into: Path) -> Path:
    copy, left = into / path.name.removesuffix(".gz"), _MOST_BYTES
    try:
        with gzip.open(path) as content, copy.open("wb") as file:
            while part := content.read(1 << 20):
                file.write(part)
                if (left := left - len(part)) < 0:
                    raise BadInput(path, "", f"has more than {_MOST_BYTES} bytes", "a file of a database")
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(path, "", f"cannot be unpacked ({error})", "a file of a database, by gzip") from None
    return copy
