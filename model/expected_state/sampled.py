"""Choose the crash trials that keep their files; read those databases with the host's SQLite.

A board keeps the files of every hundredth trial before anything opens them. The host checks a copy with the
board's program and release (commitpath/run/sampled_databases.py). The files stay in the run; this module
reads them once more with another release, the SQLite of this Python.
"""

import contextlib
import gzip
import sqlite3
import zlib
from pathlib import Path

from base import scratch
from base.errors import FileError
from model import engines
from model.cell import Cell
from model.crash_points.policies import FAULT
from model.expected_state import hashes, oracle
from model.expected_state.hashes import Held

# The first sampled trial, if there are so many, and the distance of the others.
_FIRST, _EVERY = 10, 100
# Bytes of a board's memory for all their databases.
_ROOM = 128 << 20
# results of a trial that board and host must agree on
NUMBERS = ("opened", "is_read", "is_whole", "signal", "rows")
FOUND = (*NUMBERS, "hash")
# A file with the reason why the database could not be read.
UNREAD = "unread"
_FOLDER = "files"
# Largest accepted file of a sampled trial.
_MOST_BYTES = 1 << 30


def numbers(cell: Cell, count: int) -> list[int]:
    """Return the numbers of the sampled ones of COUNT trials of a cell.

    None of an engine with packages of the board's, which this host may not have, or of a device with a fault,
    which may damage the copies.
    """
    if engines.packages(cell.engine) or cell.crash == FAULT:
        return []
    most = _ROOM // max(1, oracle.size(cell))
    return list(range(min(_FIRST, count // 2), count, _EVERY))[:most]


def folders(raw: Path) -> list[Path]:
    """Return the folders of a board's sampled trials; each is named after its trial's number."""
    return sorted(path for path in raw.glob(f"{_FOLDER}/*") if path.name.isdecimal())


def rows(place: Path, *tables: str) -> Held | None:
    """Return the content of the database in a folder, or of these of its tables, by Python's SQLite.

    None: it cannot be read. Raises FileError for a file that cannot be unpacked.
    """
    with scratch.temporary("trial") as folder:
        copies = [_unpacked(path, folder) for path in sorted(place.glob("*.gz"))]
        if not copies:
            return None
        # other files of a database have its name with a suffix
        with contextlib.closing(sqlite3.connect(min(copies, key=lambda path: len(path.name)))) as database:
            try:
                return hashes.tables(database, *tables) if tables else hashes.Looks(database).all()
            except sqlite3.Error:
                return None


def _unpacked(path: Path, into: Path) -> Path:
    copy, left = into / path.name.removesuffix(".gz"), _MOST_BYTES
    try:
        with gzip.open(path) as content, copy.open("wb") as file:
            while part := content.read(1 << 20):
                file.write(part)
                if (left := left - len(part)) < 0:
                    raise FileError(path, "", f"has more than {_MOST_BYTES} bytes", "a file of a database")
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(path, "", f"cannot be unpacked ({error})", "a file of a database, by gzip") from None
    return copy
