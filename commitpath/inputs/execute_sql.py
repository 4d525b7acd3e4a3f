"""Child process of sql_check.py: execute SQL with a SQLite library, print the line of the first error.

`python -m commitpath.inputs.execute_sql FOLDER`. stdin has the library, the schema and the transactions.
Prints the line of the first statement that fails, with SQLite's message.
"""

import ctypes
import json
import resource
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from base.text import printable

MEMORY_BYTES = 2 << 30
FILE_BYTES = 1 << 30
# sqlite3.h: its numbers never change
OK, NOMEM, INTERRUPT, IOERR, FULL, CANTOPEN, ROW, DONE = 0, 7, 9, 10, 13, 14, 100, 101
# faults of this host, not of the text
HOSTS = (NOMEM, INTERRUPT, IOERR, FULL, CANTOPEN)


class Sqlite:
    """The functions of a SQLite library, and its databases in a folder."""

    def __init__(self, library: str, folder: Path, databases: int) -> None:
        self._library, self._folder = ctypes.CDLL(library), folder
        self._library.sqlite3_errmsg.restype = ctypes.c_char_p
        self._open: list[ctypes.c_void_p] = []
        self._count = databases

    def connect(self) -> None:
        """Reopen each database, as the driver does between schema and transactions."""
        for database in self._open:
            self._library.sqlite3_close(database)
        self._open = []
        for number in range(self._count):
            database = ctypes.c_void_p()
            path = str(self._folder / f"{number}.db").encode()
            self._call(database, self._library.sqlite3_open(path, ctypes.byref(database)), 1)
            self._open.append(database)
            self.execute(1, "PRAGMA synchronous=OFF", number)

    def execute(self, line: int, text: str, number: int) -> None:
        """Execute the statements of a text from a line of the file; end the process at one that fails."""
        database, statement, rest = self._open[number], ctypes.c_void_p(), ctypes.c_void_p()
        encoded, at = text.encode(), 0
        content = ctypes.create_string_buffer(encoded)
        begin = ctypes.addressof(content)
        while True:
            while encoded[at : at + 1].isspace():
                line += encoded[at] == ord("\n")
                at += 1
            if at >= len(encoded):
                return
            prepared = self._library.sqlite3_prepare_v2(
                database, ctypes.c_void_p(begin + at), -1, ctypes.byref(statement), ctypes.byref(rest)
            )
            self._call(database, prepared, line)
            # it would be NULL; a trace has the values in their places
            if statement and self._library.sqlite3_bind_parameter_count(statement):
                end(f"line {line}: a parameter such as ? has no value here; write the value")
            result = ROW
            while statement and result == ROW:
                result = self._library.sqlite3_step(statement)
            if statement and result != DONE:
                self._call(database, result, line)
            self._library.sqlite3_finalize(statement)
            after = (rest.value or begin + len(encoded)) - begin
            line += encoded.count(b"\n", at, after)
            at = after

    def _call(self, database: ctypes.c_void_p, result: int, line: int) -> None:
        if result & 0xFF in HOSTS:
            end("")
        if result != OK:
            end(f"line {line}: {self._library.sqlite3_errmsg(database).decode(errors='replace')}")


def end(message: str) -> NoReturn:
    """End the process with a message about the text."""
    print(printable(message), flush=True)
    sys.exit(0)


def main(folder: Path) -> None:
    """Execute the SQL of stdin in a folder."""
    given = json.load(sys.stdin)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (given["seconds"],) * 2)
    sqlite, databases = Sqlite(given["library"], folder, given["databases"]), range(given["databases"])
    sqlite.connect()
    run(sqlite, ((1, "BEGIN", number) for number in databases))
    run(sqlite, given["schema"])
    run(sqlite, ((1, "COMMIT", number) for number in databases))
    sqlite.connect()
    run(sqlite, given["transactions"])


def run(sqlite: Sqlite, statements: Iterable[tuple[int, str, int]]) -> None:
    """Execute statements: line, text, number of the database."""
    for statement in statements:
        sqlite.execute(*statement)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
