"""Read and write a trace of a program's SQL (docs/how-to/trace.md), and convert it to statements."""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from model.statements import sqlfile
from model.statements.bound import Raw, Value, Zeros, bound
from model.statements.sqlfile import SqlFile, SqlFileError, Statement

FIRST = "commitpath trace 1"


class Entry(NamedTuple):
    """A statement that makes the database, or one that is replayed."""

    line: int  # in the trace, from 1
    seconds: float | None  # since the begin of the recording; None: it makes the database
    file: int
    sql: str
    values: tuple[Value, ...]


class Trace(NamedTuple):
    """The files of a trace by number, the only one to be replayed if it has that line, and the statements."""

    files: dict[int, str]
    only: int | None
    entries: tuple[Entry, ...]


_TEXT = r'"(?:[^"\\]|\\.)*"'
_WORD = re.compile(rf"{_TEXT}|\S+")
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_REAL = re.compile(r"-?(?:inf|0x[01](?:\.[0-9a-f]+)?p[+-][0-9]{1,4})")
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]{1,9})?")
_HEX = re.compile("(?:[0-9a-f]{2})*")


def read(text: str) -> Trace:
    """Parse the text of a trace. Raises SqlFileError."""
    lines = text.split("\n")
    if lines[0].strip() != FIRST:
        other = (
            "; a trace of requests is for WORKLOAD=requests" if lines[0].startswith("commitpath requ") else ""
        )
        raise SqlFileError(f"line 1: a trace begins with the line {FIRST!r}{other}")
    trace = Trace({}, None, ())
    entries = list[Entry]()
    for number, line in enumerate(lines[1:], 2):
        parts = words(line)
        if not parts or parts[0].startswith("#"):
            continue
        try:
            if parts[0] == "file":
                _declare(parts, trace.files)
            elif parts[0] == "only":
                (file,) = parts[1:]
                if trace.only is not None:
                    raise ValueError("there is one line 'only'")
                trace = trace._replace(only=_file(file, trace.files))
            else:
                entries.append(_entry(number, parts, trace.files))
        except ValueError as error:
            fault = f"{parts[0]!r} takes other words" if "unpack" in str(error) else str(error)
            raise SqlFileError(f"line {number}: {fault}") from None
    return trace._replace(entries=tuple(entries))


def _declare(words: list[str], files: dict[int, str]) -> None:
    _, number, name = words
    if not _INTEGER.fullmatch(number) or int(number) in files:
        raise ValueError(f"{number!r} is not a number of a new file")
    files[int(number)] = _string(name)


def _file(word: str, files: Mapping[int, str]) -> int:
    if not _INTEGER.fullmatch(word) or int(word) not in files:
        names = ", ".join(f"{number} {name}" for number, name in files.items()) or "none"
        raise ValueError(f"{word!r} is not a file of the trace; it has {names}")
    return int(word)


def _entry(line: int, words: list[str], files: Mapping[int, str]) -> Entry:
    if words[0] != "make" and not _SECONDS.fullmatch(words[0]):
        raise ValueError(f"{words[0]!r} is none of file, only, make, # and a number of seconds")
    if len(words) < 3:
        raise ValueError('a statement is: seconds or make, file, "SQL", values')
    seconds = None if words[0] == "make" else float(words[0])
    values = tuple(value(word) for word in words[3:])
    if "\0" in (sql := _string(words[2])):
        raise ValueError("a NUL in the SQL, which ends there")
    return Entry(line, seconds, _file(words[1], files), sql, values)


def words(line: str) -> list[str]:
    """Return the words of a line, separated by blanks; a JSON string is one word."""
    return _WORD.findall(line)


def _string(word: str) -> str:
    try:
        text: str = json.loads(word)
        text.encode()
    except (ValueError, AttributeError):
        raise ValueError(f"{word[:40]!r} is not a JSON string") from None
    return text


def value(word: str) -> Value:
    """Return the value of a word. Raises ValueError."""
    if word == "null":
        return None
    if word[0] == '"':
        return _string(word)
    if _INTEGER.fullmatch(word) and -(2**63) <= int(word) < 2**63:
        return int(word)
    if _REAL.fullmatch(word):
        # too large
        with contextlib.suppress(OverflowError):
            return float.fromhex(word)
    kind, _, rest = word.partition(":")
    if kind in ("blob", "text") and _HEX.fullmatch(rest):
        return Raw.fromhex(rest) if kind == "text" else bytes.fromhex(rest)
    if kind == "zeros" and _INTEGER.fullmatch(rest) and int(rest) >= 0:
        return Zeros(rest)
    raise ValueError(
        f'{word[:40]!r} is not a value; there are null, 5, 0x1.8p+1 (a real), "text", text:<hex>, '
        "blob:<hex>, zeros:<bytes>"
    )


def word_of(value: Value) -> str:
    """Return a value's word in a trace."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bytes):
        return f"{'text' if isinstance(value, Raw) else 'blob'}:{value.hex()}"
    if isinstance(value, float):
        return value.hex()
    return f"zeros:{int(value)}" if isinstance(value, Zeros) else str(value)


def line_of(entry: Entry) -> str:
    """Return an entry's line, without the line end."""
    first = "make" if entry.seconds is None else f"{entry.seconds:.6f}"
    return " ".join([first, str(entry.file), word_of(entry.sql), *map(word_of, entry.values)])


def write(trace: Trace, notes: Iterable[str] = ()) -> str:
    """Return a trace's text. notes: comments after the first line."""
    head = [FIRST, *(f"# {note}" for note in notes)]
    head += [f"file {number} {word_of(name)}" for number, name in trace.files.items()]
    head += [f"only {trace.only}"] if trace.only is not None else []
    return "".join(f"{line}\n" for line in (*head, *map(line_of, trace.entries)))


def _statements(entries: Iterable[Entry], databases: Mapping[int, int]) -> Iterator[Statement]:
    for entry in entries:
        try:
            text = bound(entry.sql, entry.values)
        except ValueError as error:
            raise SqlFileError(f"line {entry.line}: {error}") from None
        parts = list(sqlfile.statements(text.rstrip().rstrip(";") + ";", entry.line))
        if len(parts) != 1:
            raise SqlFileError(f"line {entry.line}: its text has {len(parts)} statements, and is to have one")
        began = None if entry.seconds is None else round(entry.seconds * 1e9)
        yield parts[0]._replace(database=databases[entry.file], recorded_ns=began)


def parts(text: str) -> SqlFile:
    """Return the statements that make a trace's databases, and its transactions. Raises SqlFileError."""
    trace = read(text)
    databases = _databases(trace)
    of_files = [entry for entry in trace.entries if entry.file in databases]
    makes = _statements((entry for entry in of_files if entry.seconds is None), databases)
    replayed = _statements((entry for entry in of_files if entry.seconds is not None), databases)
    content = sqlfile.checked(tuple(makes), replayed, "make")
    return content._replace(databases=max(len(databases), 1))


def _databases(trace: Trace) -> dict[int, int]:
    """Return file → database, from 0. Raises SqlFileError for too many or unused files."""
    chosen = list(trace.files) if trace.only is None else [trace.only]
    if len(chosen) > sqlfile.MOST_DATABASES:
        raise SqlFileError(
            f"it has {len(chosen)} files, and a cell at most {sqlfile.MOST_DATABASES} databases; choose one "
            "by a line such as 'only 1'"
        )
    changed = {entry.file for entry in trace.entries if entry.seconds is not None}
    if len(chosen) > 1 and (idle := [number for number in chosen if number not in changed]):
        raise SqlFileError(
            f"file {idle[0]} {trace.files[idle[0]]} has no transaction; take it out, or choose one by a line "
            "such as 'only 1'"
        )
    return {file: number for number, file in enumerate(chosen)}
