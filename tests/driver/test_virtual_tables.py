"""SQLiteKV in the driver: which CREATE TABLEs work, traces of several files, the query cache, refusals."""

import sqlite3
from pathlib import Path

import pytest
from conftest import Driver, binary, ok, one_line_error
from test_several_databases import FILES, paths, populate, trace

from analysis.run_files import databases
from model.engines import by_name
from model.statements import sqlfile, tracefile

SETTINGS = {"--sync": "off", "--query-cache": 0, "--form": "table"}


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver(binary("engine-sqlitekv"), tmp_path)


def run(driver, *more, count=1, **settings):
    given = SETTINGS | {f"--{name.replace('_', '-')}": value for name, value in settings.items()}
    words = [word for setting in given.items() for word in setting]
    where = ["--database", driver.database, "--output-dir", driver.output, "--databases", count]
    return driver("run", *where, *words, *more)


CREATED = {
    "CREATE TABLE t(a PRIMARY KEY, b)": None,
    "create table if not exists [t (x] (a INTEGER PRIMARY KEY, b TEXT) -- end": None,
    "CREATE TABLE t(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID": None,
    "CREATE TABLE t(a, b UNIQUE)": "sqlitekv: UNIQUE is not supported",
    "CREATE TABLE t AS SELECT 1 AS a": "a table of SQLiteKV on SQLite 3.46.1 and LevelDB 1.23 is declared by",
    "CREATE TABLE t(a INT) STRICT": "a table of SQLiteKV on SQLite 3.46.1 and LevelDB 1.23 is declared by",
    "CREATE TABLE t(a); CREATE INDEX i ON t(a)": "virtual tables may not be indexed",
}


@pytest.mark.parametrize(("sql", "error"), CREATED.items())
def test_tables_of_a_file(driver, sql, error):
    """In a transaction, as a trace may have it."""
    parts = tracefile.parts(
        f'commitpath trace 1\nfile 0 "a.db"\n0 0 "/* one */ {sql}"\n'
        if ";" not in sql
        else 'commitpath trace 1\nfile 0 "a.db"\n'
        + "".join(f'{i} 0 "{one}"\n' for i, one in enumerate(sql.split("; ")))
    )
    ok(populate(driver, parts, count=1))
    (driver.folder / "transactions").write_bytes(sqlfile.pack(parts.transactions))
    file = ["--file", driver.folder / "transactions", "--n", len(parts.transactions)]
    done = run(driver, "--workload", "sql", "--rows", 0, "--value-size", 1, *file)
    if error is None:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert error in one_line_error(done, 1)


def test_a_trace_of_several_files(driver):
    parts = trace()
    ok(populate(driver, parts))
    (driver.folder / "transactions").write_bytes(sqlfile.pack(parts.transactions))
    file = ["--file", driver.folder / "transactions", "--n", len(parts.transactions)]
    ok(
        run(
            driver, "--workload", "sql", "--rows", 0, "--value-size", 1, *file, count=FILES, query_cache=65536
        )
    )
    assert driver.rendered() == sqlfile.rendered(parts.transactions)
    config = driver.config()
    assert databases.unsummed(config, "properties", by_name("sqlitekv").COUNTED) == []
    for path in paths(driver):
        assert (path / "CURRENT").is_file()
    own = [sum(one.database == n for one in parts.transactions) for n in range(FILES)]
    assert [one["transactions"] for one in config["databases"]] == own


CACHES = (
    {"query_cache": 0},
    {"query_cache": 1048576, "query_cache_place": "module"},
    {"query_cache": 1048576, "query_cache_place": "compiler"},
)
# a read-modify-write is a text of two statements
READS = {
    "kv": ["--workload", "kv"],
    "mix": ["--workload", "mix", "--mix", "read=50,read-modify-write=25,update=20,delete=5"],
}


@pytest.mark.parametrize("words", READS.values(), ids=READS)
def test_a_cache_is_used_and_counted(tmp_path, words):
    """In both places, and transactions return the same rows as without a cache."""
    returned = []
    for number, settings in enumerate(CACHES):
        (folder := tmp_path / str(number)).mkdir()
        driver = Driver(binary("engine-sqlitekv"), folder)
        driver("populate", *words[:2], "--database", driver.database, "--rows", 30)
        ok(run(driver, *words, "--rows", 30, "--n", 200, **settings))
        config = driver.config()
        assert config["effective"]["query_cache_place"] == settings.get("query_cache_place", "module")
        assert (int(config["properties"]["cache hits"]) > 50) == (number > 0)
        names = ("op", "changes", "rows", "bytes")
        returned.append([[row[name] for name in names] for row in driver.table("transactions.csv")])
    assert returned[0] == returned[1] == returned[2]


def test_a_direct_insert_replaces(driver):
    """An update reads; an insert of a key that is there fails in the other form."""
    driver("populate", "--database", driver.database, "--rows", 30)
    ok(run(driver, "--workload", "apsys17", "--rows", 30, "--n", 50, form="direct"))
    assert driver.config()["effective"]["form"] == "direct"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"query_cache": 5}, "a query cache of 5 bytes: it is 0, or at least 65536"),
        ({"form": "row"}, "--form"),
    ],
)
def test_settings_that_are_refused(driver, settings, expected):
    driver("populate", "--database", driver.database, "--rows", 30)
    done = run(driver, "--rows", 30, **settings)
    assert expected in one_line_error(done, done.returncode)
    assert done.returncode in (1, 2)


def test_another_engines_database_is_refused(driver):
    sqlite3.connect(driver.database).close()
    driver.database.write_bytes(b"SQLite format 3\0")
    line = one_line_error(run(driver, "--rows", 0), 1)
    assert f"{driver.database}: Not a directory" in line
