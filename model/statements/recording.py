"""Convert a recording of a program's SQL, with its databases as they were before, to a trace to replay.

workloads/engines/*/preload/record.c makes recordings. Statements that a trace cannot have are counted.
"""

import contextlib
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePath

from model.statements import pragmas, sqlfile, tracefile
from model.statements.bound import Raw, Value
from model.statements.sqlfile import SqlFileError
from model.statements.tracefile import Entry, Trace

# Files of a recording's folder: the transactions; and for each database, by a number, its content before the
# recording, its WAL and its path.
TRANSACTIONS = "transactions"
PATH = "-path"
# Exists if the recording is incomplete; contains the reason.
INCOMPLETE = "incomplete"
# Descriptions of omitted statements: of an attached file, and others of its transaction.
ATTACHED = "a statement of an attached file"
BESIDE = "what else its transaction has"
# File number of a statement of an attached file.
_ATTACHED = -1
# A temporary table of SQLite's shell, with a reserved name.
_SHELLS = "SQLITE_PARAMETERS"
_CONTROLS = [[word] for word in ("BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE")]


def trace(folder: Path) -> tuple[Trace, dict[int, str], Counter[str]]:
    """Return the trace, the path of each of its files, and description → number of omitted statements.

    Raises SqlFileError for a database that cannot be dumped, and for an incomplete recording.
    """
    mark = folder / INCOMPLETE
    if mark.exists():
        why = next(iter(mark.read_text(errors="replace").splitlines()), "no space is left for it")
        raise SqlFileError(f"the recording is incomplete: {why}")
    paths = {
        path.read_text(): path.with_name(path.name.removesuffix(PATH)) for path in folder.glob(f"*{PATH}")
    }
    given = folder / TRANSACTIONS
    kept, left = list[Entry](), Counter[str]()
    numbers = dict[str, int]()
    blocks = list(_blocks(given.read_text() if given.exists() else ""))
    # files that are only read have nothing to replay
    changed = {path for block in blocks for path, entry in block if _changes(entry.sql)}
    for block in blocks:
        other = any(entry.file == _ATTACHED for _, entry in block)
        for path, entry in block:
            word = _unfit(entry.sql)
            if other and sqlfile.first_words(entry.sql)[:1] in _CONTROLS:
                continue
            if other:
                word = ATTACHED if entry.file == _ATTACHED else BESIDE
            if word:
                left[word] += 1
            elif path in changed:
                kept.append(entry._replace(file=numbers.setdefault(path, len(numbers) + 1)))
    first = min((entry.seconds or 0 for entry in kept), default=0)
    replayed = [entry._replace(seconds=(entry.seconds or 0) - first) for entry in kept]
    names = Counter(PurePath(path).name for path in numbers)
    files = {
        number: PurePath(path).name if names[PurePath(path).name] == 1 else path
        for path, number in numbers.items()
    }
    made = [entry for path, number in numbers.items() if path in paths for entry in dump(paths[path], number)]
    return Trace(files, None, (*made, *replayed)), {number: path for path, number in numbers.items()}, left


def _blocks(text: str) -> Iterator[list[tuple[str, Entry]]]:
    """Yield the transactions: (path, statement) of each statement."""
    for part in re.split(r"^transaction .*(?:\n|\Z)", text, flags=re.MULTILINE):
        block = list[tuple[str, Entry]]()
        for line in part.splitlines():
            words = tracefile.words(line)
            file = _ATTACHED if words[0] == "attached" else 0
            seconds, path, *values = words[1:] if file else words
            sql, *bound = map(tracefile.value, values)
            block.append((str(tracefile.value(path)), Entry(0, float(seconds), file, str(sql), tuple(bound))))
        if block:
            yield _whole(block)


def _whole(block: list[tuple[str, Entry]]) -> list[tuple[str, Entry]]:
    """Add BEGIN or the end to a transaction that a SAVEPOINT began, or that an error ended."""
    (path, first), (_, last) = block[0], block[-1]
    begin = sqlfile.first_words(first.sql)[:1]
    if begin not in (["BEGIN"], ["SAVEPOINT"]):
        return block
    whole = [(path, first._replace(sql="BEGIN")), *block] if begin == ["SAVEPOINT"] else block
    if sqlfile.is_end(sqlfile.first_words(last.sql)):
        return whole
    # the release of the first savepoint commits; an error or the close of the database rolls back
    end = "COMMIT" if begin == ["SAVEPOINT"] and not _savepoints(block) else "ROLLBACK"
    return [*whole, (path, last._replace(sql=end, values=()))]


def _savepoints(block: list[tuple[str, Entry]]) -> list[str]:
    """Return the names of the savepoints that are not released."""
    names = list[str]()
    for _, entry in block:
        match [word.strip("\"'`[]") for word in sqlfile.first_words(entry.sql)]:
            case ["SAVEPOINT", name, *_]:
                names.append(name)
            case ["RELEASE", "SAVEPOINT", name, *_] | ["RELEASE", name, *_] if name in names:
                del names[len(names) - 1 - names[::-1].index(name) :]
    return names


def _changes(sql: str) -> bool:
    """Return whether a statement is one that a trace can have and may change rows."""
    return _unfit(sql) is None and sqlfile.first_words(sql)[:1] not in ([], ["PRAGMA"], *_CONTROLS)


def _unfit(sql: str) -> str | None:
    """Return the description of a statement that a workload cannot have, else None."""
    if word := pragmas.left_out(sql):
        return word
    try:
        # it may end with a comment
        for statement in sqlfile.statements(f"{sql}\n;", 1):
            sqlfile.refuse(statement)
            if _SHELLS in statement.words:
                return f"{statement.words[0]} {_SHELLS}"
    except SqlFileError:
        words = sqlfile.first_words(sql)
        return " ".join(words[: 1 if words[0] in ("ATTACH", "DETACH") else 2])
    return None


def _text(raw: bytes) -> str | Raw:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return Raw(raw)


def dump(path: Path, number: int) -> Iterator[Entry]:
    """Yield the statements that make a database's content. Raises SqlFileError for a virtual table."""
    if path.stat().st_size == 0:
        return
    database = sqlite3.connect(path)
    database.text_factory = _text

    def make(sql: str, *values: Value) -> Entry:
        return Entry(0, None, number, sql, values)

    try:
        schema = database.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' "
            "ESCAPE '^' ORDER BY rowid"
        ).fetchall()
        tables = [(name, sql) for kind, name, sql in schema if kind == "table"]
        for name, sql in tables:
            if re.match(r"CREATE\s+VIRTUAL\b", sql, re.IGNORECASE):
                raise SqlFileError(
                    f"the database has the virtual table {name}; a trace does not have its content"
                )
            yield make(sql)
            yield from (make(*row) for row in _rows(database, name))
        for (counts,) in database.execute("SELECT count(*) FROM sqlite_master WHERE name='sqlite_sequence'"):
            if counts:
                yield make("DELETE FROM sqlite_sequence")
                for row in database.execute("SELECT name, seq FROM sqlite_sequence"):
                    yield make("INSERT INTO sqlite_sequence VALUES(?,?)", *row)
        yield from (make(sql) for kind, _, sql in schema if kind != "table")
    except sqlite3.Error as error:
        raise SqlFileError(f"the database as it was before cannot be read: {error}") from None
    finally:
        database.close()


def _rows(database: sqlite3.Connection, table: str) -> Iterator[tuple[str, *tuple[Value, ...]]]:
    """Yield an INSERT with the values of each row, and its rowid if that is not a column."""
    quoted = _quoted(table)
    described = database.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
    # number, name, type, NOT NULL, DEFAULT, place in the key, 0 unless hidden or generated
    columns = [_quoted(column[1]) for column in described if column[6] == 0]
    is_key = [column for column in described if column[5] and str(column[2]).upper() == "INTEGER"]
    # a column may be called rowid; a table may be WITHOUT ROWID
    with contextlib.suppress(sqlite3.Error):
        database.execute(f"SELECT rowid FROM {quoted} LIMIT 0")
        columns = ["rowid", *columns] if not is_key and '"rowid"' not in columns else columns
    marks = ",".join("?" * len(columns))
    insert = f"INSERT INTO {quoted}({','.join(columns)}) VALUES({marks})"
    for row in database.execute(f"SELECT {','.join(columns)} FROM {quoted}"):
        yield (insert, *row)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
