"""Measure a trace (page writes, SQL bytes, …) by executing it in SQLite; compare with a study's table."""

import sqlite3
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from base import scratch
from model.statements import sqlfile
from model.statements.sqlfile import SqlFile, Statement
from model.synthetic.draw import PAGE, Spec

# SQLite's file format, sections 4.1 and 4.2.
HEADER, FRAME = 32, 24
# Statements that count as a transaction's SQL: those that a statement log has.
WRITES = ("INSERT", "UPDATE", "DELETE")
# Largest relative difference from the study's measures.
TOLERANCE = 0.05


class Measured(NamedTuple):
    """The measures of a trace as counted, by the names of Spec."""

    megabytes: float
    batches: int
    alone: int
    statements: int
    updates: int
    page_writes: int
    pages: int
    sql_bytes: float
    dirty_pages: float


def executed(trace: SqlFile, checkpoints: int) -> Measured:
    """Return a trace's measures; an equal number of pages is written between two of `checkpoints`."""
    updates = sql_bytes = batches = alone = statements = 0
    with scratch.temporary("trace") as folder:
        opened = [_Database(folder / f"trace-{number}.db") for number in range(trace.databases)]
        try:
            for number, one in enumerate(opened):
                one.make([part for part in trace.schema if part.database == number])
            megabytes = sum(one.path.stat().st_size for one in opened) / 1e6
            for one in opened:
                one.log_all()
            for transaction in trace.transactions:
                found = list(sqlfile.statements(transaction.text, 1))
                batch = found[0].words[0] == "BEGIN"
                batches, alone = batches + batch, alone + (not batch)
                statements += len(found) - 2 if batch else 0
                sql_bytes += sum(len(s.text) - 1 for s in found if s.words[0] in WRITES)
                updates += opened[transaction.database].writes(found)
            written = [pages(one.log) for one in opened]
        finally:
            for one in opened:
                one.close()
    every = sum(map(len, written)) // checkpoints
    dirty = [
        len(set(own[at : at + every])) for own in written for at in range(0, len(own) - every + 1, every)
    ]
    return Measured(
        *(megabytes, batches, alone, statements, updates),
        *(sum(map(len, written)), sum(len(set(own)) for own in written)),
        *(sql_bytes / updates, sum(dirty) / len(dirty)),
    )


class _Database:
    """A SQLite database in which a trace is executed, with the pages that its WAL gets."""

    def __init__(self, path: Path) -> None:
        self.path, self.log = path, path.with_name(f"{path.name}-wal")
        self._connection, self._size = sqlite3.connect(path, isolation_level=None), 0

    def make(self, schema: list[Statement]) -> None:
        """Make it as the driver's populate does: synced once, which is not measured."""
        for sql in (f"PRAGMA page_size={PAGE}", "PRAGMA synchronous=off", "BEGIN"):
            self._connection.execute(sql)
        for one in schema:
            self._connection.execute(one.text)
        self._connection.execute("COMMIT")

    def log_all(self) -> None:
        """Keep all frames in its log from now on."""
        self._connection.execute("PRAGMA journal_mode=wal")
        self._connection.execute("PRAGMA wal_autocheckpoint=0")

    def writes(self, transaction: list[Statement]) -> bool:
        """Execute a transaction and return whether it writes pages."""
        for one in transaction:
            self._connection.execute(one.text).fetchall()
        before, self._size = self._size, self.log.stat().st_size if self.log.exists() else 0
        return self._size > before

    def close(self) -> None:
        self._connection.close()


def pages(log: Path) -> list[int]:
    """Return the page numbers of a log, in order."""
    content = log.read_bytes()
    return [
        struct.unpack_from(">I", content, place)[0] for place in range(HEADER, len(content), FRAME + PAGE)
    ]


def table(spec: Spec, found: Measured, unfitted: Mapping[str, Any]) -> list[tuple[str, float, float, str]]:
    """Return (measure, the study's, this trace's, a note) for each row of the study's table.

    unfitted: the study's numbers that contradict its other ones (`told` of its profile).
    """
    here = {
        **found._asdict(),
        "files": spec.databases,
        "transactions": found.batches + found.alone,
        "statements": found.statements + found.alone,
        "writes_of_one": found.page_writes / found.updates,
        "overwrites": found.page_writes / found.pages,
    }
    study = {
        **spec._asdict(),
        "transactions": spec.transactions,
        "statements": spec.statements + spec.alone,
        "writes_of_one": spec.page_writes / spec.updates,
        "overwrites": spec.page_writes / spec.pages,
        **unfitted,
    }
    notes = dict.fromkeys(unfitted, "the study's contradicts its other numbers: not fitted")
    notes["files"] = "" if spec.files == spec.databases else "one in the place of all"
    return [(words, study[name], here[name], notes.get(name, "")) for name, words in ROWS.items()]


ROWS = {
    "page_writes": "page writes",
    "pages": "distinct pages",
    "updates": "update transactions",
    "writes_of_one": "page writes of each",
    "overwrites": "writes of a page",
    "files": "files",
    "megabytes": "MB of database, before",
    "transactions": "transactions",
    "batches": "of them batches",
    "alone": "of them of one statement",
    "statements": "statements",
    "sql_bytes": "bytes of SQL of an update transaction",
    "dirty_pages": "distinct pages between the study's checkpoints",
}


def wrong(rows: list[tuple[str, float, float, str]]) -> list[str]:
    """Return the measures that differ from the study's by more than TOLERANCE, except those with a note."""
    return [
        f"{words}: {here:.6g}, and the study has {study:.6g}"
        for words, study, here, note in rows
        if not note and abs(here / study - 1) > TOLERANCE
    ]
