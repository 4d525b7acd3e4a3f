"""A user's SQL: what the database holds after each transaction, what is refused, what a crash left."""

import sqlite3
from pathlib import Path

import polars as pl
import pytest
from some_cell import some_cell

from analysis.crash import prefixes
from model import userfile
from model.cell import Cell
from model.expected_state import hashes, oracle
from model.expected_state.hashes import Looks

TRACE = (Path(__file__).parent / "samples/crash.trace").read_text()


def cell(text: str, kind: str = "sql") -> Cell:
    parts = userfile.parts({kind: text})
    profiles = {"workload": {"driver_workload": "sql"}, "file": {kind: text}}
    return some_cell(n=len(parts.transactions), profiles=profiles)


def every(made: Cell) -> list[hashes.Held]:
    return list(oracle.after(made, ["sql"], range(made.n + 1)).values())


def test_it_is_what_sqlite_holds() -> None:
    """After each, by a database of its own that is looked at once."""
    made, parts = cell(TRACE, "trace"), userfile.parts({"trace": TRACE})
    found = every(made)
    for number in range(len(found)):
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.executescript("".join(one.text for one in parts.schema))
        with sqlite3.connect(":memory:", isolation_level=None) as opened:
            database.backup(opened)
        for one in parts.transactions[:number]:
            opened.executescript(one.text)
        assert Looks(opened).all() == found[number], number


T = "CREATE TABLE t(a, b);\nINSERT INTO t VALUES(1,'x');\n-- commitpath: transactions\n"


@pytest.mark.parametrize(
    "other",
    [
        *("UPDATE t SET a=1.0", "UPDATE t SET a=x'31'"),
        *("UPDATE t SET b='x'||char(0)", "UPDATE t SET rowid=2"),
        *("INSERT INTO t VALUES(1,'x')", "ALTER TABLE t RENAME TO u", "CREATE INDEX i ON t(a)"),
        *("PRAGMA user_version=1", "DROP TABLE t"),
    ],
)
def test_another_content_is_another_hash(other: str) -> None:
    before, after = every(cell(f"{T}{other};"))
    assert before.hash != after.hash


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("INSERT INTO t VALUES(random(),0);", "line 4: what random() gives is not the same each time"),
        (
            "INSERT INTO t VALUES(datetime(0,'unixepoch','LocalTime'),0);",
            "line 4: what datetime(0, 'unixepoch', 'LocalTime') gives",
        ),
        (
            "CREATE TABLE u(a, b DEFAULT CURRENT_TIMESTAMP);\nINSERT INTO u(a) VALUES(1);",
            "line 5: what CURRENT_",
        ),
        (
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET b=julianday(); END;\n"
            "BEGIN;\nSELECT 1;\nINSERT INTO t VALUES(2,2);\nCOMMIT;",
            "line 7: what julianday() gives",
        ),
        ("SELECT sqlite_version();", "line 4: what sqlite_version() gives"),
        # as SQLite reads it: a text to its NUL
        ("INSERT INTO t VALUES(date('now'||char(0)||'x'),0);", "line 4: what date('now\\x00x') gives"),
        # read after the last statement
        ("UPDATE t SET a='now';\nALTER TABLE t ADD c AS (date(a));", "line 5: what date('now') gives"),
        # its file, its pages, its program
        (
            "INSERT INTO t SELECT file, 1 FROM pragma_database_list;",
            "line 4: what PRAGMA database_list gives",
        ),
        ("INSERT INTO t SELECT count(*), 1 FROM dbstat;", "line 4: what dbstat gives"),
        ('SELECT * FROM "a\nb";', "line 4: no such table: a\\nb (SQLite 3."),
        ("CREATE VIRTUAL TABLE f USING fts4(x);", "line 4: how a virtual table keeps its rows"),
        ("BEGIN;\nINSERT INTO nowhere VALUES(1);\nCOMMIT;", "line 5: no such table: nowhere (SQLite 3."),
    ],
)
def test_what_its_statements_alone_do_not_say_is_told_by_its_line(text: str, said: str) -> None:
    with pytest.raises(oracle.UnknownError) as told:
        oracle.check(cell(T + text))
    assert str(told.value).startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t VALUES(datetime('2026-01-31','+1 month'), strftime('%s','2026-01-31'));",
        "CREATE INDEX i ON t(date(b));\nINSERT INTO t VALUES(1,'2026-01-31');",
        # given what would else be asked for
        "CREATE TABLE u(a DEFAULT CURRENT_TIMESTAMP);\nINSERT INTO u VALUES(1);",
        "CREATE TABLE now(random);\nINSERT INTO now VALUES('now');",
        "INSERT INTO t SELECT changes(), last_insert_rowid();",
        "INSERT INTO t SELECT CAST(x'ff' AS TEXT), 1;\nSELECT a FROM t;",
        "INSERT INTO t SELECT name, 1 FROM pragma_table_info('t');\nVACUUM;\nPRAGMA optimize;",
    ],
)
def test_what_they_say_is_played(text: str) -> None:
    oracle.check(cell(T + text))
    assert len({held.hash for held in every(cell(T + text))}) > 1


# a row for each transaction
LONG = "CREATE TABLE t(a);\n-- commitpath: transactions\n" + "INSERT INTO t VALUES(0);\n" * 60


def tried(*rows: tuple[int, int, int | str]) -> pl.DataFrame:
    """Trials at which so many were acknowledged and begun, and what each found: as after so many, or a
    hash."""
    known = every(cell(LONG))
    found = [known[held].hash if isinstance(held, int) else int(held, 16) for _, _, held in rows]
    columns = {"acknowledged": [row[0] for row in rows], "begun": [row[1] for row in rows]}
    return pl.DataFrame({**columns, "is_read": 1, "hash": [f"{one:016x}" for one in found]})


def test_a_database_is_looked_for_where_it_may_be() -> None:
    made = cell(LONG)

    def asked(*rows: tuple[int, int, int | str]) -> tuple[list[int | None], set[int]]:
        table = tried(*rows)
        states = prefixes.states(made, ["sql"], table)
        known = prefixes.ExpectedStates(states)
        return [known.held(row) for row in table.iter_rows(named=True)], set(states)

    # what was acknowledged, or what was under way besides
    assert asked((7, 8, 7), (20, 21, 21), (60, 60, 60)) == ([7, 21, 60], {0, 7, 8, 20, 21, 60})
    # what was lost is looked for behind, and as far as it takes
    assert asked((7, 8, 7), (40, 41, 30)) == ([7, 30], {0, 7, 8, *range(8, 42)})
    assert asked((59, 60, 3)) == ([3], set(range(61)))
    # ahead of what was begun is no prefix, and nor is what is none
    assert asked((7, 8, 9)) == ([None], set(range(9)))
    assert asked((7, 8, "5")) == ([None], set(range(9)))
    lost = prefixes.ExpectedStates(prefixes.states(made, ["sql"], tried((40, 41, 30))))
    assert (lost.between(30, 40), lost.first_between(30, 40)) == (10, 30)
