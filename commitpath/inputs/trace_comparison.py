"""Compare the rows that a replay of a recorded trace leaves with the recorded command's.

Python's SQLite replays it like the driver, with one connection per database.
"""

import contextlib
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from model.expected_state import functions
from model.statements import recording, sqlfile, tracefile
from model.statements.sqlfile import SqlFile, SqlFileError
from model.statements.tracefile import Trace

# Characters of the first row that differs.
SHOWN = 100
# Of a database's header: WAL in use, bytes of a page, encoding of texts; with auto_vacuum the largest root
# page, and whether it is incremental.
WRITES, PAGE_SIZE, ENCODING = 18, slice(16, 18), slice(56, 60)
LARGEST_ROOT, INCREMENTAL = slice(52, 56), slice(64, 68)
ENCODINGS = {2: "UTF-16le", 3: "UTF-16be"}


def differences(trace: Trace, paths: dict[int, str], folder: Path) -> Iterator[str]:
    """Yield a line for each file of a trace with other rows after a replay, and for each function with
    varying results. folder: for copies."""
    try:
        parts = tracefile.parts(tracefile.write(trace))
    except SqlFileError as error:
        yield f"the rows that a replay leaves were not compared: {error}"
        return
    for place, (number, file) in enumerate(trace.files.items()):
        where = f"{number} {file}: "
        path = Path(paths[number])
        if not path.is_file():
            yield f"{where}it is gone, so the rows that a replay leaves were not compared"
            continue
        left = folder / f"left-{number}"
        try:
            # a killed command leaves a journal to be rolled back
            for suffix in ("", "-wal", "-journal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(f"{path}{suffix}", f"{left}{suffix}")
            wanted = _lines(left, number)
            played = folder / f"played-{number}"
            for used, statement in _play(parts, place, played).items():
                yield f"{where}{used} gives another value in a replay: {statement[:SHOWN]}"
            had = _lines(played, number)
        except sqlite3.Error as error:
            yield f"{where}a replay fails: {error}"
            continue
        except (OSError, SqlFileError) as error:
            yield f"{where}the rows that a replay leaves were not compared: {error}"
            continue
        missing, more = wanted - had, had - wanted
        if missing or more:
            first = next(iter([*missing, *more]))
            yield (
                f"{where}a replay leaves other rows: {missing.total()} missing, {more.total()} more; "
                f"the first: {first[:SHOWN]}"
            )


def _lines(path: Path, number: int) -> Counter[str]:
    return Counter(tracefile.line_of(entry) for entry in recording.dump(path, number))


def _play(parts: SqlFile, place: int, path: Path) -> dict[str, str]:
    """Execute the statements of one file of a trace; return function with varying results → first statement.

    Raises sqlite3.Error with the line of a statement that fails.
    """
    called, varying = list[str](), dict[str, str]()
    for given, enclosed in ((parts.schema, True), (parts.transactions, False)):
        with (
            contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database,
            contextlib.closing(sqlite3.connect(":memory:")) as plain,
        ):
            functions.watch(database, plain, called)
            # a text need not be UTF-8
            database.text_factory = bytes
            database.execute("PRAGMA synchronous=OFF")
            if enclosed:
                database.execute("BEGIN")
            for transaction in (each for each in given if each.database == place):
                for statement in sqlfile.statements(transaction.text, transaction.line):
                    try:
                        database.execute(statement.text).fetchall()
                    except (sqlite3.Error, sqlite3.Warning) as error:
                        raise sqlite3.Error(f"line {transaction.line} of the trace: {error}") from None
                    for call in called:
                        varying.setdefault(call.partition("(")[0], statement.text)
                    called.clear()
            if enclosed:
                database.execute("COMMIT")
    return varying


def header(path: Path) -> dict[str, str]:
    """Return a database's settings by axis, and its encoding if it is not UTF-8; empty without a page."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return {}
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        return {}
    size = int.from_bytes(head[PAGE_SIZE], "big")
    settings = {"page_size": str(65536 if size == 1 else size)}
    if head[WRITES] == 2:
        settings["journal_mode"] = "wal"
    if any(head[LARGEST_ROOT]):
        settings["auto_vacuum"] = "incremental" if any(head[INCREMENTAL]) else "full"
    if encoding := ENCODINGS.get(int.from_bytes(head[ENCODING], "big")):
        settings["encoding"] = encoding
    return settings
