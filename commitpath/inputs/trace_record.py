"""`make trace-record`: run a command, write its SQL as a trace, and compare the rows after a replay.

docs/how-to/trace.md. Python's SQLite replays the trace like the driver, with one connection per database.
"""

import contextlib
import os
import shlex
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from base import scratch
from base.errors import BadInputError, LabError
from base.paths import ROOT
from base.text import printable
from commitpath.cells.axes import axes
from commitpath.host import places
from commitpath.host.packages import ensure_packages
from model.expected_state import nondeterministic_calls
from model.statements import pragmas, recording, sqlfile, tracefile
from model.statements.sqlfile import SqlFile, SqlFileError
from model.statements.tracefile import Trace

COMMAND = ROOT / "workloads/command"
# Names the folder of a preload's records (workloads/command/transactions.h).
VARIABLE = "COMMITPATH_RECORD"


def trace_record(variables: dict[str, str]) -> int:
    """Run CMD under each engine's preload and write the trace to FILE; return the command's exit code."""
    command = variables.get("CMD", "")
    if not command.strip() or not variables.get("FILE"):
        raise BadInputError("make trace-record takes CMD='<a command of sh, run here>' and FILE=<a new file>")
    target = places.new_file("FILE", variables["FILE"])
    ensure_packages(virtual=False)
    with scratch.temporary("record") as folder:
        libraries = [build(engine, folder) for engine in sorted(engines())]
        records = folder / "records"
        records.mkdir()
        preload = ":".join([*filter(None, [os.environ.get("LD_PRELOAD")]), *map(str, libraries)])
        environment = {**os.environ, VARIABLE: str(records), "LD_PRELOAD": preload}
        status = subprocess.run(["sh", "-c", command], env=environment, check=False).returncode
        try:
            trace, paths, left = recording.trace(records)
        except SqlFileError as error:
            raise LabError(f"CMD: {error}") from None
        if not trace.entries:
            raise LabError(
                f"CMD ended with {status}, and changed no database by the shared library of "
                f"{' or '.join(sorted(engines()))}"
            )
        # first of all, as the command is not run again
        text = tracefile.write(trace)
        scratch.write(target, text)
        notes = [*databases(trace, paths), *map(left_out, sorted(left.items()))]
        notes += [f"beware: {line}" for line in differences(trace, paths, folder)]
    counts = [sum(entry.file == number for entry in trace.entries) for number in trace.files]
    for (number, file), count in zip(trace.files.items(), counts, strict=True):
        print(f"{number} {file}: {count} statement{'' if count == 1 else 's'}")
    for note in notes:
        print(printable(note))
    print(f"{target}: {len(text.encode())} bytes; the command ended with {status}")
    return status if status >= 0 else 128 - status


def databases(trace: Trace, paths: dict[int, str]) -> Iterator[str]:
    """Yield the settings of the command's databases that are not a cell's defaults."""
    for number, file in trace.files.items():
        settings = header(Path(paths[number]))
        words = [
            f"{axes()[axis].variable}={value}"
            for axis, value in settings.items()
            if axis in axes() and str(axes()[axis].spec["default"]) != value
        ]
        if words:
            yield f"{number} {file} is as of a cell with {' '.join(words)}"
        if encoding := settings.get("encoding"):
            yield f"{number} {file} has its texts in {encoding}; a cell's database has them in UTF-8"


def left_out(counted: tuple[str, int]) -> str:
    """Return a line about left-out statements: their number, and the variable to use instead."""
    words, count = counted
    line = f"left out {'once' if count == 1 else f'{count} times'}: {words}"
    if axis := pragmas.axis(words):
        return f"{line}: the variable {axes()[axis].variable} sets it"
    return f"{line}: no variable sets it, a cell has SQLite's default" if pragmas.is_default(words) else line


def engines() -> list[str]:
    """Return the engines with a preload."""
    return [path.parent.name for path in (ROOT / "workloads/engines").glob("*/preload")]


def build(engine: str, folder: Path) -> Path:
    """Build an engine's preload for this host."""
    library = folder / f"{engine}.so"
    make = ["make", "-s", "-C", str(COMMAND), "preload", f"ENGINE={engine}", f"OUT={library}"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(make, capture_output=True, text=True, check=False, env=clean)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no word"])[0]
        raise LabError(f"{shlex.join(make)} failed: {last}")
    return library


# Characters of the first row that differs.
SHOWN = 100
# Fields of a database's header: WAL in use, bytes of a page, encoding of texts; with auto_vacuum the largest
# root page, and whether it is incremental.
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
            nondeterministic_calls.watch(database, plain, called)
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
