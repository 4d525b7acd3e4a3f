"""Build this folder's programs and the sqlitekv extension once; open connections and tables with it."""

import functools
import sqlite3
import sys
from pathlib import Path

from made import make

from images import artifacts

FOLDER = Path(__file__).resolve().parent
WORKLOADS = FOLDER.parents[1] / "workloads"
BUILT = WORKLOADS / "build/test/sqlitekv"
LIBRARY = WORKLOADS / "build/test/library-3.46.1"
SANITIZED = "CFLAGS=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


@functools.cache
def program(name: str) -> Path:
    """Return a program, under ASan and UBSan with the SQLite of the drivers under test."""
    compiled = Path(f"{LIBRARY}.objects")
    with artifacts.locked(compiled):
        make(WORKLOADS, "library", f"OUT={LIBRARY.relative_to(WORKLOADS)}", SANITIZED)
        make(FOLDER, f"LIBRARY={compiled / 'sqlite3.o'}")
    return BUILT / name


@functools.cache
def extension() -> Path:
    """Return the extension without its suffix, as programs load it."""
    path = BUILT / "plain/sqlitekv.so"
    with artifacts.locked(path):
        make(WORKLOADS / "engines/sqlitekv/extension", f"OUT={path}", "CFLAGS=-O1 -g")
    return path.with_suffix("")


def connect(main: Path | str = ":memory:", library: Path | None = None) -> sqlite3.Connection:
    """Return a connection of this Python's SQLite with the extension or a copy of it, in autocommit."""
    db = sqlite3.connect(main, isolation_level=None, uri=True)
    db.enable_load_extension(True)
    db.load_extension(str(library or extension()))
    return db


def python(code: str) -> list[str]:
    """Return the command that runs code in another process."""
    path = f"import sys; sys.path[:0] = {[str(FOLDER), str(FOLDER.parent), str(FOLDER.parents[1])]!r}\n"
    return [sys.executable, "-c", path + code]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def create(
    db: sqlite3.Connection, path: Path, columns: str = "id INTEGER PRIMARY KEY, v TEXT", name: str = "t"
) -> None:
    """Make or open a table."""
    db.execute(f"CREATE VIRTUAL TABLE {name} USING sqlitekv('{path}', {columns})")
