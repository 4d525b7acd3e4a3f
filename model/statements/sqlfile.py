"""Parse a user's SQL file (WORKLOAD=sql) into schema and transactions; check and pack them for the driver."""

import hashlib
import itertools
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from model.operations import Transaction

# The line between the statements that make the database and the transactions.
MARK = "-- commitpath: transactions"
# The operation of each transaction.
OPERATION = "sql"
# PRAGMAs that change no setting of a cell, and none that a check assumes to be SQLite's default.
KEPT = frozenset({"application_id", "user_version"})  # in the database
# Those allowed before the transactions: by the second a dump has its virtual tables.
MAKING = KEPT | {"foreign_keys", "writable_schema"}
ALLOWED = KEPT | {
    # of the connection
    *("automatic_index", "case_sensitive_like", "defer_foreign_keys", "foreign_keys"),
    *("ignore_check_constraints", "recursive_triggers", "reverse_unordered_selects"),
    # maintenance
    *("foreign_key_check", "integrity_check", "optimize", "quick_check", "wal_checkpoint"),
    *("index_info", "index_list", "table_info", "table_list", "table_xinfo"),
}
_OFF = frozenset({"OFF", "0", "NO", "FALSE"})
_CONTROL = frozenset({"BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"})
# SQLite's tokens (tokenize.c), as far as the end of a statement depends on them.
_TOKEN = re.compile(
    r"(?P<blank>[\s\ufeff]+|--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|[\w$]+|.",
    re.DOTALL,
)
# Number of tokens that are kept of a statement, to recognise it.
_FIRST = 8
# MAX_DATABASES of workloads/options.h
MOST_DATABASES = 32


class SqlFileError(ValueError):
    """A file is invalid; the text begins with the line."""


class Statement(NamedTuple):
    """SQL from its first token to its last semicolon: one statement, or a transaction."""

    line: int  # first line in the file, from 1
    text: str
    words: tuple[str, ...]  # its first tokens, in upper case
    database: int = 0
    recorded_ns: int | None = None  # begin in a recording


class SqlFile(NamedTuple):
    """The statements of a file: those that make the database, then transactions."""

    schema: tuple[Statement, ...]  # executed in one transaction before the measurement
    transactions: tuple[Statement, ...]
    databases: int = 1


def read(text: str) -> SqlFile:
    """Parse the text of a SQL file. Raises SqlFileError."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*--\s*commitpath\b", line) and line.strip() != MARK:
            raise SqlFileError(f"line {number}: {line.strip()!r}: the only such line is {MARK!r}")
    marks = [number for number, line in enumerate(lines) if line.strip() == MARK]
    if len(marks) > 1:
        raise SqlFileError(f"line {marks[1] + 1}: the second {MARK!r}; there is one, after the schema")
    cut = marks[0] if marks else 0
    schema = tuple(statements("\n".join(lines[:cut]), 1))
    given = statements("\n".join(lines[cut:]), cut + 1)
    return checked(schema, given, f"before {MARK!r}", f" after line {cut + 1}, {MARK!r}" if marks else "")


def checked(
    schema: tuple[Statement, ...], given: Iterable[Statement], where: str, after: str = ""
) -> SqlFile:
    """Return the checked content of a file. where, after: places of schema and transactions, for messages.

    Raises SqlFileError for content that a workload cannot have.
    """
    content = SqlFile(transactions=tuple(transactions(given)), schema=tuple(_making(schema, where)))
    if not content.transactions:
        raise SqlFileError(f"it has no statement{after}")
    return content


def _making(schema: Iterable[Statement], where: str) -> Iterator[Statement]:
    """Yield the statements that make a database, which are executed in one transaction.

    PRAGMA foreign_keys=OFF, which is the default, and BEGIN and COMMIT of a dump by SQLite's shell are
    omitted. Raises SqlFileError for several transactions.
    """
    begun = dict[int, Statement]()  # by database
    for statement in schema:
        refuse(statement, MAKING)
        word, begin = statement.words[0], begun.get(statement.database)
        if word == "PRAGMA" and "FOREIGN_KEYS" in statement.words:
            if not _OFF & set(statement.words):
                raise SqlFileError(
                    f"line {statement.line}: PRAGMA foreign_keys {where}: there it may be OFF alone, "
                    "as all is one transaction, in which SQLite turns on none"
                )
        elif word == "BEGIN" and begin is None:
            begun[statement.database] = statement
        elif word in ("COMMIT", "END") and begin is not None:
            del begun[statement.database]
        elif word in _CONTROL or word == "VACUUM":
            raise SqlFileError(f"line {statement.line}: {word} {where}: all that is there is one transaction")
        else:
            yield statement
    for statement in begun.values():
        raise SqlFileError(f"line {statement.line}: BEGIN {where} without a COMMIT or END there")


def statements(text: str, line: int) -> Iterator[Statement]:
    """Yield the statements of a text; line: its first line in the file.

    SQLite determines where each ends. Raises SqlFileError for one that does not end.
    """
    start, words, first, inside, last = 0, list[str](), line, False, ("", "")
    for token in _TOKEN.finditer(text):
        if not token["blank"]:
            if not words:
                start, first = token.start(), line
            if len(words) < _FIRST:
                words.append(token[0].upper())
            # not at each semicolon of a long trigger, which would take very long
            if token[0] == ";" and (not inside or last == (";", "END")):
                ends = sqlite3.complete_statement(text[start : token.end()])
                if ends and words != [";"]:
                    yield Statement(first, text[start : token.end()], tuple(words))
                if inside and not ends:
                    break
                words, inside = ([], False) if ends else (words, True)
            last = last[1], token[0].upper()
        line += token[0].count("\n")
    if words:
        raise SqlFileError(f"line {first}: the statement {text[start:][:40]!r} has no end (a semicolon)")


def transactions(given: Iterable[Statement]) -> Iterator[Statement]:
    """Yield the transactions of statements: one in autocommit, or those from BEGIN to its end.

    The latter's text is as in the file, with only the line ends between two statements. Transactions of
    several databases come in order of their ends. Raises SqlFileError for invalid ones.
    """
    begun = dict[int, list[Statement]]()  # by database
    for statement in given:
        refuse(statement)
        word, inside = statement.words[0], begun.get(statement.database, [])
        ends = is_end(statement.words)
        if word == "BEGIN" and inside:
            raise SqlFileError(
                f"line {statement.line}: BEGIN within the transaction of line {inside[0].line}"
            )
        if word in _CONTROL - {"BEGIN"} and not inside:
            raise SqlFileError(f"line {statement.line}: {word} without a BEGIN before it")
        if word == "BEGIN" or inside:
            inside.append(statement)
            begun[statement.database] = inside
            if ends:
                yield _joined(begun.pop(statement.database))
        else:
            yield statement
    for inside in begun.values():
        raise SqlFileError(f"line {inside[0].line}: BEGIN without a COMMIT, END or ROLLBACK after it")


def is_end(words: Sequence[str]) -> bool:
    """Return whether a statement with these first tokens ends a transaction."""
    return words[0] in ("COMMIT", "END") or (words[0] == "ROLLBACK" and "TO" not in words[1:3])


def _joined(parts: list[Statement]) -> Statement:
    text, line = "", parts[0].line
    for statement in parts:
        text += "\n" * (statement.line - line) + statement.text
        line = statement.line + statement.text.count("\n")
    return parts[0]._replace(text=text)


def first_words(text: str) -> list[str]:
    """Return the first tokens of a text, in upper case, without blanks and comments."""
    return [word.upper() for word in itertools.islice(_words(text), _FIRST)]


def _words(text: str) -> Iterator[str]:
    return (token[0] for token in _TOKEN.finditer(text) if not token["blank"])


def refuse(statement: Statement, pragmas: frozenset[str] = ALLOWED) -> None:
    """Raise SqlFileError for a statement that a workload cannot have."""
    words, where = [word.strip("\"'`[]").lower() for word in statement.words], f"line {statement.line}: "
    if words[0] == "explain":
        # most PRAGMAs act when they are prepared, even after EXPLAIN
        words = words[3:] if words[1:3] == ["query", "plan"] else words[1:]
        if words[:1] != ["pragma"]:
            return
    if words[0] == "pragma":
        name = words[3] if words[2:3] == ["."] else (words[1:2] or [""])[0]
        if name not in pragmas:
            raise SqlFileError(
                f"{where}PRAGMA {name}: here there may be {', '.join(sorted(pragmas))}; "
                "set an axis of the cell by its variable (make help)"
            )
    if words[0] in ("attach", "detach") or (words[0] == "vacuum" and "into" in words):
        raise SqlFileError(f"{where}{words[0].upper()}: a statement is of one database")
    if any(
        bracket == "(" and called.strip('"`[]').lower() == "load_extension"
        for called, bracket in pairwise(_words(statement.text))
    ):
        raise SqlFileError(f"{where}load_extension: what it loads would run in the driver")
    if words[0] == ".":
        raise SqlFileError(f"{where}.{(words[1:2] or [''])[0]} is a command of SQLite's shell, and no SQL")


def name(text: str) -> str:
    """Return a file's name in a cell: 16 hex digits of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_ordered(statement: Statement) -> bool:
    """Return whether a transaction makes only the calls of a commit."""
    words = {part.words[0] for part in statements(statement.text, 1)}
    return not words & {"ROLLBACK", "VACUUM", "PRAGMA"}


def vacuum(given: Iterable[Statement]) -> int | None:
    """Return the line of the first VACUUM, None if there is none."""
    return next((statement.line for statement in given if statement.words[0] == "VACUUM"), None)


def pack(given: Sequence[Statement], timed: bool = False) -> bytes:
    """Return the statements for workloads/workloads/sql.c. timed: with the times of a recording."""
    due = due_ns(given) if timed else [None] * len(given)
    each = zip(given, due, strict=True)
    return b"".join(
        f"{statement.line}{_numbers(statement, due)}\n{statement.text}\0".encode() for statement, due in each
    )


def due_ns(given: Sequence[Statement]) -> list[int]:
    """Return when each transaction of a recording begins, in ns after the first, not below 0."""
    recorded = [statement.recorded_ns or 0 for statement in given]
    return [max(time - recorded[0], 0) for time in recorded]


def _numbers(statement: Statement, due: int | None) -> str:
    database = f" {statement.database + 1}" if statement.database or due is not None else ""
    return database if due is None else f"{database} {due}"


def rendered(given: Iterable[Statement]) -> bytes:
    """Return the content of rendered.gz: each statement with a newline."""
    return b"".join(f"{statement.text}\n".encode() for statement in given)


def rendered_transactions(file: BinaryIO) -> Iterator[Transaction]:
    """Yield a transaction for each in rendered.gz. Raises ValueError with the place of an invalid one."""
    try:
        text = file.read().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}") from None
    for _ in transactions(statements(text, 1)):
        yield Transaction((OPERATION,), batch=False)
