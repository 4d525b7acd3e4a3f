"""The driver runs a user's SQL file as it stands: errors name the line, and spills are in temporary files."""

import pytest
from conftest import ok

from model.statements import sqlfile

SHOP = f"""\
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO item(name) VALUES('one'), ('two');
{sqlfile.MARK}
INSERT INTO item(name) VALUES('a; b');
BEGIN;
  UPDATE item SET name = 'x
y' WHERE id < 3;

  DELETE FROM item WHERE id = 3;
COMMIT;
SELECT * FROM item;
BEGIN; DELETE FROM item; ROLLBACK;
"""


@pytest.fixture
def give(driver, tmp_path):
    """Populate with a file's first part, and run the second; returns the completed process."""

    def run(text, *more, n=None, schema=None, transactions=None):
        parts = sqlfile.read(text)
        (tmp_path / "schema").write_bytes(sqlfile.pack(parts.schema) if schema is None else schema)
        (tmp_path / "transactions").write_bytes(transactions or sqlfile.pack(parts.transactions))
        done = driver(
            *("populate", "--workload", "sql", "--database", driver.database, "--rows", 0),
            *("--value-size", 1, "--page-size", 4096, "--file", tmp_path / "schema"),
        )
        if done.returncode:
            return done
        count = len(parts.transactions) if n is None else n
        words = ["--workload", "sql", "--value-size", 1, "--file", tmp_path / "transactions", *more]
        return driver.run(*words, rows=0, n=count)

    return run


def test_each_transaction_is_run_once_as_it_stands(driver, give):
    ok(give(SHOP, "--vfs-log"))
    rows = driver.table("transactions.csv")
    assert {(row["phase"], row["op"]) for row in rows} == {("sql", "sql")}
    assert [row["changes"] for row in rows] == ["1", "3", "0", "2"]
    assert driver.rendered() == sqlfile.rendered(sqlfile.read(SHOP).transactions)
    config = driver.config()
    assert config["transactions"] == {"sql": 4}
    assert config["driver"]["file"].endswith("/transactions")
    assert (config["rows_before"], config["rows_after"], config["sql_bytes"]) == (0, 0, 0)


TWICE = "CREATE TABLE t(a UNIQUE);\nBEGIN;\n\nINSERT INTO t VALUES('\n');\n\n INSERT INTO t VALUES('\n');END;"


def test_an_empty_database_has_the_page_size(driver, give, tmp_path):
    (tmp_path / "schema").write_bytes(b"")
    words = ["--workload", "sql", "--value-size", 1, "--page-size", 1024]
    ok(driver("populate", *words, "--database", driver.database, "--rows", 0, "--file", tmp_path / "schema"))
    (tmp_path / "transactions").write_bytes(b"1\nCREATE TABLE t(a);\0")
    driver.run_ok(*words, "--file", tmp_path / "transactions", rows=0, n=1)
    assert driver.config()["effective"]["page_size"] == 1024


FAILURES = [
    (
        "SELECT 1;\n\nSELECT no\n FROM nowhere;",
        "line 3 of FILE: prepare failed: SQLite error 1 (no such table: ",
    ),
    # its message has the name's two lines
    ('SELECT no FROM "a\nb";', "line 1 of FILE: prepare failed: SQLite error 1 (no such table: a b)"),
    (TWICE, "transaction 1, phase sql, op sql: line 7 of FILE: step failed: SQLite error 2067 (UNIQUE "),
    (
        f"CREATE TABLE t(a);\n\nCREATE TABLE t(a);\n{sqlfile.MARK}\nSELECT 1;",
        "line 3 of FILE: execution failed",
    ),
]


@pytest.mark.parametrize(("text", "expected"), FAILURES)
def test_a_statement_that_fails_is_named_by_its_line(driver, give, text, expected):
    done = give(text)
    assert done.returncode == 1
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (driver.output / "config.json").exists()


SPILLS = f"""\
CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, v TEXT);
INSERT INTO t(k, v) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
  SELECT (i * 7919) % 30000, hex(zeroblob(50)) FROM n;
{sqlfile.MARK}
SELECT count(*) FROM (SELECT * FROM t ORDER BY v, k DESC LIMIT 29999);
CREATE INDEX tk ON t(v, k);
CREATE TEMP TABLE copied AS SELECT * FROM t;
"""


def test_what_does_not_fit_into_memory_is_in_temporary_files(driver, give, monkeypatch, tmp_path):
    """In the folder of SQLITE_TMPDIR; each is gone when SQLite closes it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("SQLITE_TMPDIR", str(folder))
    ok(give(SPILLS, "--vfs-log"))
    calls = driver.table("vfs.csv")
    opened = {call["inode"] for call in calls if call["op"] == "open" and call["file"] == "temporary"}
    written = sum(int(call["bytes"]) for call in calls if call["op"] == "write" and call["inode"] in opened)
    assert opened and "0" not in opened and written > 5_000_000
    assert not list(folder.iterdir())
