"""FILE is executed by the cell's SQLite on this host before a board is prepared."""

from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath.cells import from_variables as cells
from commitpath.inputs import sql_check

SQL = Path(__file__).parent / "sql"


def check(path: Path) -> None:
    cell = cells.make_cell({"WORKLOAD": "sql", "FILE": str(path)})
    sql_check.check(cell, str(path))


# Real files of people, and what is wrong with each; None: nothing.
CASES = {
    "bom-crlf": None,
    "checkpoint-in": "line 5: database table is locked",
    "comment-marker": "line 5: '--commitpath: transactions': the only such line is",
    "dump": "line 9: PRAGMA writable_schema",
    "dump-plain": None,
    "dump-then-mine": None,
    "dump-virtual-then-mine": None,
    "fts-trigger": None,
    "mk": None,
    "ms-trigger": None,
    "mysql-like": 'line 2: near "GO": syntax error',
    "no-semicolon": "line 2: the statement .* has no end",
    "savepoint-top": "line 2: SAVEPOINT without a BEGIN",
    "shell": "line 1: .mode is a command of SQLite's shell",
    "temp-and-more": "line 1: PRAGMA temp_store",
}


def test_every_file_is_a_case() -> None:
    assert {path.stem for path in SQL.glob("*.sql")} == set(CASES)


@pytest.mark.parametrize(("name", "wrong"), CASES.items())
def test_a_file_is_taken_or_refused_with_its_line(name: str, wrong: str | None) -> None:
    path = SQL / f"{name}.sql"
    if wrong is None:
        check(path)
        return
    with pytest.raises(BadInputError, match=rf"^FILE={path}: {wrong}") as error:
        check(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("CREATE TABLE t(a);\n-- commitpath: transactions\nINSERT INTO u VALUES(1);", "3: no such table: u"),
        ("CREATE VIRTUAL TABLE t USING zipfile(a);", "1: no such module: zipfile"),
        ("BEGIN;\nCREATE TABLE t(a UNIQUE);\n\nINSERT INTO t VALUES(1),\n(1);\nCOMMIT;", "4: UNIQUE con"),
        ("SELECT\nnow();", "1: no such function: now"),
        ("CREATE TABLE t(a);\nINSERT INTO t VALUES(?);", "2: a parameter such as . has no value here"),
        ("SELECT '?';\nSELECT :name;", "2: a parameter"),
        # the connection is another one than what made the database
        ("CREATE TEMP TABLE t(a);\n-- commitpath: transactions\nSELECT * FROM t;", "3: no such table: t"),
    ],
)
def test_what_sqlite_refuses_is_told_with_its_line(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "mine.sql"
    path.write_text(text)
    with pytest.raises(BadInputError, match=rf"mine.sql: line {wrong}.* \(SQLite 3.46.1\)$"):
        check(path)


def test_a_trace_is_checked_by_its_own_lines_and_databases(tmp_path: Path) -> None:
    path = tmp_path / "mine.trace"
    lines = ['file 1 "a"', 'file 2 "b"', 'make 2 "CREATE TABLE t(a)"', '0 1 "CREATE TABLE u(a)"']
    for last, wrong in (('1 2 "INSERT INTO t VALUES(?)" 1', ""), ('1 2 "DELETE FROM u"', "line 6: no such")):
        path.write_text("\n".join(["commitpath trace 1", *lines, last]))
        cell = cells.make_cell({"WORKLOAD": "trace", "FILE": str(path)})
        if not wrong:
            sql_check.check(cell, str(path))
            continue
        with pytest.raises(BadInputError, match=wrong):
            sql_check.check(cell, str(path))


def test_what_runs_for_ever_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.sql").write_text(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n;\nSELECT x;"
    )
    monkeypatch.setattr(sql_check, "SECONDS", 1)
    check(tmp_path / "mine.sql")


# Of each module and function that Debian's SQLite or its shell has.
MODULES = [
    "CREATE VIRTUAL TABLE f USING fts3(a, tokenize=porter); INSERT INTO f VALUES('runs'); "
    "SELECT 1/count(*) FROM f WHERE f MATCH '(run OR x) NOT y';",
    "CREATE VIRTUAL TABLE f USING fts4(a); CREATE VIRTUAL TABLE x USING fts4aux(f);",
    "CREATE VIRTUAL TABLE f USING fts5(a); CREATE VIRTUAL TABLE x USING fts5vocab(f, row); "
    "INSERT INTO f VALUES('b'); SELECT highlight(f, 0, '<', '>'), bm25(f) FROM f('b');",
    "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES(1, 2, 3); "
    "CREATE VIRTUAL TABLE r2 USING rtree_i32(id, a, b);",
    "CREATE VIRTUAL TABLE g USING geopoly(a); INSERT INTO g(_shape) VALUES('[[0,0],[1,0],[0,1],[0,0]]'); "
    "SELECT geopoly_area(_shape) FROM g;",
    "SELECT json_extract('{\"a\":[1]}', '$.a[0]'), '[1]'->>0, jsonb('[1]'); SELECT * FROM json_each('[1]');",
    "SELECT sin(1), log2(8), ceil(1.5), pow(2, 3), pi(), trunc(1.5);",
    "SELECT count(*) FROM dbstat; SELECT count(*) FROM sqlite_dbpage; SELECT count(*) FROM sqlite_stmt;",
    "SELECT soundex('x');",
    "CREATE TABLE t(a); INSERT INTO t VALUES(1),(2); UPDATE t SET a=3 ORDER BY a LIMIT 1; "
    "DELETE FROM t ORDER BY a DESC LIMIT 1 OFFSET 0; "
    "CREATE VIEW v AS SELECT a FROM t; SELECT rowid FROM v;",
    "SELECT iif('\u0031' LIKE x'31', abs(-9223372036854775808), 1);",
    "SELECT value FROM generate_series(1, 10, 3) ORDER BY 1 DESC;",
    "SELECT base64(x'00'), base85(x'00'), decimal_mul('1.1', '2'), sha3('a'), ieee754(2.0), 'a' REGEXP '.';",
    "SELECT 'a2' < 'a10' COLLATE uint;",
]


@pytest.mark.parametrize("text", MODULES)
def test_the_cells_sqlite_has_what_distributions_have(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.sql").write_text(text)
    check(tmp_path / "mine.sql")
