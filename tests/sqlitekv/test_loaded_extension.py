"""The sqlitekv extension in Python's SQLite: results, refused SQL and arguments, kept schemas, copies."""

import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from extension import connect, create, extension
from sqllogictest import records

from base.paths import ROOT

FOLDER = Path(__file__).resolve().parent
PAGE = ROOT / "workloads/engines/sqlitekv/extension/README.md"


def text_of(value: object, letter: str) -> str:
    if value is None:
        return "NULL"
    return f"{value:.1f}" if isinstance(value, float) and letter == "R" else str(value)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.test")), ids=lambda path: path.stem)
@pytest.mark.parametrize("engine", ["SQLite", "sqlitekv"])
def test_files_have_their_results(path: Path, engine: str, tmp_path: Path) -> None:
    """Of both: a file with a wrong result is found, too."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.M)
    # a query may be in a file twice, with other results
    db, queries = (
        connect(),
        [
            (head, sql, record.partition("\n----\n")[2].strip("\n"))
            for record in re.split(r"\n\s*\n", text.strip())
            for head, sql in records(record)
        ],
    )
    for head, sql, expected in queries:
        statement = sql
        if engine == "sqlitekv" and sql.startswith("CREATE TABLE"):
            created = re.fullmatch(r"CREATE TABLE (\w+)\((.*)\)( WITHOUT ROWID)?", sql)
            assert created
            statement = f"CREATE VIRTUAL TABLE {created[1]} USING sqlitekv('{tmp_path / 'kv'}', {created[2]})"
        kind, *rest = head.split(" ", 2)
        if rest[0] == "error":
            with pytest.raises(sqlite3.Error, match=f"^{re.escape(rest[1])}$"):
                db.execute(statement)
            continue
        rows = db.execute(statement).fetchall()
        if kind == "query":
            lines = [
                [text_of(value, letter) for value, letter in zip(row, rest[0], strict=True)] for row in rows
            ]
            if "rowsort" in head:
                lines.sort()
            assert "\n".join(value for line in lines for value in line) == expected, sql
    db.close()


def test_the_pages_line_loads_it(tmp_path: Path) -> None:
    (line,) = re.findall(r"^    (sqlite3 .*sqlitekv.*)$", PAGE.read_text(encoding="utf-8"), re.M)
    command = line.replace("workloads/build/sqlitekv", str(extension()))
    sql = "INSERT INTO notes(text) VALUES('kept');\n"
    for expected in ("kept\n", "kept\nkept\n"):
        done = subprocess.run(
            ["bash", "-c", command],
            input=sql + "SELECT text FROM notes;\n",
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert (done.stdout, done.stderr) == (expected, "")


# What the module refuses for t(id INTEGER PRIMARY KEY, v TEXT), with its message.
REFUSED_HERE = {
    "ALTER TABLE t RENAME TO u": "sqlitekv: a table cannot be renamed",
    "BEGIN; DROP TABLE t": "database table is locked",
}
# What SQLite refuses for every virtual table.
REFUSED = {
    "CREATE INDEX i ON t(v)": "virtual tables may not be indexed",
    "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END": "cannot create triggers on virtual tables",
    "ALTER TABLE t ADD COLUMN w": "virtual tables may not be altered",
    "ALTER TABLE t DROP COLUMN v": 'cannot drop column from virtual table "t"',
    "ALTER TABLE t RENAME COLUMN v TO w": 'cannot rename columns of virtual table "t"',
    "INSERT INTO t VALUES(1, 'b') ON CONFLICT DO NOTHING": 'UPSERT not implemented for virtual table "t"',
    "UPDATE t SET v = 'b' RETURNING v": "UPDATE RETURNING is not available on virtual tables",
    "DELETE FROM t RETURNING v": "DELETE RETURNING is not available on virtual tables",
}


def test_sqlite_refuses_the_same_for_another_virtual_table() -> None:
    for sql in (*REFUSED, *REFUSED_HERE):
        db = connect()
        db.execute("CREATE VIRTUAL TABLE t USING fts5(id, v)")
        try:
            for statement in sql.split("; "):
                db.execute(statement)
            refused = False
        except sqlite3.Error:
            refused = True
        assert refused is (sql in REFUSED), sql
        db.close()


@pytest.mark.parametrize(("sql", "message"), (REFUSED | REFUSED_HERE).items(), ids=lambda value: value[:30])
def test_what_is_refused(sql: str, message: str, tmp_path: Path) -> None:
    db = connect()
    create(db, tmp_path / "kv")
    db.execute("INSERT INTO t VALUES(1, 'a')")
    with pytest.raises(sqlite3.Error, match=f"^{re.escape(message)}$"):
        for statement in sql.split("; "):
            db.execute(statement)
    if db.in_transaction:
        db.rollback()
    assert db.execute("SELECT * FROM t").fetchall() == [(1, "a")]
    db.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "the first argument is the database's folder"),
        ("'{0}'", "{0} has no table t; declare its columns"),
        ("'{0}', a, synk=full", "synk is not an option; sync, cache and form are"),
        ("'{0}', a, sync=normal", "sync=normal: sync is full or off"),
        ("'{0}', a, cache=-1", "cache=-1: cache is a number of bytes"),
        ("'{0}', a, cache=5", "a query cache of 5 bytes: it is 0, or at least 65536"),
        ("'{0}', a, form=row", "form=row: form is table or direct"),
        ("'{0}', a, a", "duplicate column name: a"),
        ("'{0}', a DEFAULT 5", "DEFAULT is not supported"),
        ("'{0}', a UNIQUE", "UNIQUE is not supported"),
        ("'{0}', a CHECK(a > 0)", "CHECK is not supported"),
        ("'{0}', a REFERENCES b", "REFERENCES is not supported"),
        ("'{0}', a, b AS (a + 1)", "a generated column is not supported"),
        ("'{0}', a COLLATE other PRIMARY KEY", "no such collation sequence: other"),
        (
            "'{0}', a, PRIMARY KEY(a COLLATE NOCASE)",
            "COLLATE in PRIMARY KEY that is not the column's is not supported",
        ),
        ("'{0}', a TEXT PRIMARY KEY, a2 a3 (", None),
    ],
)
def test_arguments_that_are_refused(arguments: str, message: str | None, tmp_path: Path) -> None:
    db = connect()
    sql = f"CREATE VIRTUAL TABLE t USING sqlitekv({arguments.format(tmp_path / 'kv')})"
    with pytest.raises(sqlite3.Error) as caught:
        db.execute(sql)
    if message is not None:
        expected = message.format(tmp_path / "kv")
        assert str(caught.value) in (f"sqlitekv: {expected}", expected)
    db.close()
    assert list(tmp_path.iterdir()) == []


def foreign(path: Path, kind: str) -> None:
    """Make a database of another program."""
    if kind == "file":
        path.write_bytes(b"SQLite format 3\0")
        return
    path.mkdir()
    (path / {"rocksdb": "IDENTITY", "lmdb": "data.mdb"}[kind]).touch()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("file", "{0}: Not a directory"),
        ("rocksdb", "{0} is not a LevelDB database: it has the file IDENTITY"),
        ("lmdb", "{0} is not a LevelDB database: it has the file data.mdb"),
    ],
)
def test_another_engines_database_is_refused_and_stays(kind: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    foreign(path, kind)
    before = path.read_bytes() if path.is_file() else sorted(path.iterdir())
    db = connect()
    with pytest.raises(sqlite3.Error) as caught:
        create(db, path)
    assert str(caught.value) == "sqlitekv: " + message.format(path)
    assert (path.read_bytes() if path.is_file() else sorted(path.iterdir())) == before
    db.close()


def test_a_schema_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "kv"
    db = connect()
    create(db, path, "a TEXT COLLATE NOCASE, b INT, PRIMARY KEY(a)")
    db.execute("INSERT INTO t VALUES('x', 1)")
    other = connect()
    with pytest.raises(sqlite3.OperationalError, match=f"^sqlitekv: {path} is in use$"):
        create(other, path)
    db.close()
    for columns in ("a TEXT, b INT, PRIMARY KEY(a)", "a TEXT COLLATE NOCASE PRIMARY KEY"):
        with pytest.raises(sqlite3.Error, match=f"table t of {path} is declared as .a TEXT COLLATE NOCASE"):
            create(other, path, columns)
    create(other, path, "A text collate nocase primary key, B integer")
    assert other.execute("SELECT * FROM t WHERE a = 'X'").fetchall() == [("x", 1)]
    other.execute("DROP TABLE t")
    create(other, path, "only")
    assert other.execute("SELECT * FROM t").fetchall() == []
    other.close()


def test_tables_of_a_database_on_disk(tmp_path: Path) -> None:
    """SQLite's own file has the virtual table, and connects to it."""
    for expected in (1, 2):
        db = connect(tmp_path / "main.db")
        db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS t USING sqlitekv('{tmp_path / 'kv'}', v)")
        db.execute("INSERT INTO t VALUES(1)")
        assert db.execute("SELECT count(*) FROM t").fetchone() == (expected,)
        db.close()
    shutil.rmtree(tmp_path / "kv")
    db = connect(tmp_path / "main.db")
    with pytest.raises(sqlite3.Error, match="No such file"):
        db.execute("SELECT * FROM t")
    db.close()


def test_a_copy_of_sqlites_file_has_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative folder is searched for in the working directory."""
    monkeypatch.chdir(tmp_path)
    db = connect("main.db")
    create(db, Path("kv"))
    db.execute("INSERT INTO t VALUES(1, 'a')")
    for name in ("copy.db", "backup.db"):
        (tmp_path / name).with_suffix("").mkdir()
    db.execute("VACUUM INTO 'copy/main.db'")
    with sqlite3.connect("backup/main.db") as target:
        db.backup(target)
    target.close()
    db.close()
    dump = ["sqlite3", "-cmd", f".load {extension()}", "main.db", ".dump"]
    done = subprocess.run(dump, capture_output=True, text=True, check=True)
    assert "CREATE VIRTUAL TABLE t" in done.stdout and "'a'" not in done.stdout
    for folder in ("copy", "backup"):
        monkeypatch.chdir(tmp_path / folder)
        db = connect("main.db")
        with pytest.raises(sqlite3.OperationalError, match=r"^sqlitekv: kv: No such file or directory$"):
            db.execute("SELECT * FROM t")
        db.close()
        shutil.copytree(tmp_path / "kv", "kv")
        db = connect("main.db")
        assert db.execute("SELECT * FROM t").fetchall() == [(1, "a")]
        db.close()


def test_a_table_of_a_transaction_writes_to_main(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "main.db") as db:
        db.execute("CREATE TABLE any(thing)")
    db.close()
    db = connect(f"file:{tmp_path / 'main.db'}?mode=ro")
    create(db, tmp_path / "kv", name="temp.t")
    db.execute("INSERT INTO t VALUES(1, 'a')")
    db.execute("BEGIN")
    with pytest.raises(sqlite3.Error, match=r"^sqlitekv: attempt to write a readonly database$"):
        create(db, tmp_path / "kv", name="temp.u")
    db.execute("INSERT INTO t VALUES(2, 'b')")
    db.execute("COMMIT")
    assert db.execute("SELECT * FROM t").fetchall() == [(1, "a"), (2, "b")]
    db.close()


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM {0}", "INSERT INTO {0} VALUES(1)", "DELETE FROM {0}", "DROP TABLE {0}"]
)
def test_the_table_of_savepoints_is_of_no_use(sql: str) -> None:
    db = connect()
    with pytest.raises(sqlite3.Error, match=r"no rows|readonly|may not be dropped"):
        db.execute(sql.format("sqlitekv_savepoints"))
    db.close()


def test_an_outermost_savepoint_is_rolled_back(tmp_path: Path) -> None:
    db = connect()
    create(db, tmp_path / "kv")
    for sql in (
        "INSERT INTO t VALUES(1, 'kept')",
        "SAVEPOINT s",
        "DELETE FROM t",
        "ROLLBACK TO s",
        "RELEASE s",
    ):
        db.execute(sql)
    assert db.execute("SELECT * FROM t").fetchall() == [(1, "kept")]
    db.close()


def test_another_spelling_is_the_same_folder(tmp_path: Path) -> None:
    db, other = connect(), connect()
    create(db, tmp_path / "kv", "sync=full, v REAL")
    (tmp_path / "link").symlink_to("kv")
    for option in ("sync=off", "cache=1"):
        with pytest.raises(sqlite3.Error, match=r"sync=full|query cache"):
            db.execute(f"CREATE VIRTUAL TABLE u USING sqlitekv('{tmp_path / 'link'}', {option}, v)")
    # a failed CREATE closes all tables
    db.execute("SELECT * FROM t")
    with pytest.raises(sqlite3.OperationalError, match=r"link is in use$"):
        create(other, tmp_path / "link")
    db.execute(f"CREATE VIRTUAL TABLE temp.t USING sqlitekv('{tmp_path / 'link'}')")
    db.execute("INSERT INTO main.t VALUES(-0.0)")
    assert [str(value) for (value,) in db.execute("SELECT v FROM temp.t")] == ["0.0"]
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        db.execute("DROP TABLE temp.t")
    db.close()


def test_a_users_log_stays(tmp_path: Path) -> None:
    (tmp_path / "1.log").write_text("mine", encoding="utf-8")
    db = connect()
    with pytest.raises(sqlite3.Error, match=r"it has the file 1\.log$"):
        create(db, tmp_path)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("1.log", "mine")
    ]
    db.close()
