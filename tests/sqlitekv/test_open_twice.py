"""A sqlitekv database that a process, connection or copy of the extension has open, or had when killed."""

import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from extension import connect, contents, create, extension, program, python

EXECUTE = """
from extension import connect
db = connect()
for line in sys.stdin:
    db.execute(line)
    print("done", flush=True)
"""


class Process:
    """Another process with a connection."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(python(EXECUTE), stdin=pipe, stdout=pipe, text=True)

    def execute(self, *statements: str) -> None:
        assert self.process.stdin and self.process.stdout
        for sql in statements:
            self.process.stdin.write(sql + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "done\n", sql

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


MANY = "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last}) "
INSERT = "INSERT INTO t " + MANY + "SELECT i, printf('%0900d', i) FROM n"


@pytest.mark.parametrize("sync", ["full", "off"])
def test_another_process(sync: str, tmp_path: Path) -> None:
    path = tmp_path / "kv"
    first = Process()
    first.execute(
        f"CREATE VIRTUAL TABLE t USING sqlitekv('{path}', sync={sync}, id INTEGER PRIMARY KEY, v)",
        INSERT.format(first=1, last=900),
        "BEGIN",
        "UPDATE t SET v = 'updated' WHERE id <= 10",
        "DELETE FROM t WHERE id > 800",
    )
    db = connect()
    before = contents(path)
    for _ in range(3):
        with pytest.raises(sqlite3.OperationalError) as caught:
            create(db, path, "id INTEGER PRIMARY KEY, v")
        assert str(caught.value) == f"sqlitekv: {path} is in use"
    assert contents(path) == before
    first.execute(
        "COMMIT",
        "INSERT INTO t VALUES(-1, 'committed')",
        "BEGIN",
        "INSERT INTO t VALUES(-2, 'not committed')",
        "SAVEPOINT s",
        "DELETE FROM t WHERE id < 100",
        INSERT.format(first=2000, last=9000),
        "RELEASE s",
    )
    first.kill()
    create(db, path, "id INTEGER PRIMARY KEY, v")
    expected = [(-1, "committed"), *((i, "updated") for i in range(1, 11))]
    expected += [(i, f"{i:0900d}") for i in range(11, 801)]
    assert db.execute("SELECT * FROM t ORDER BY id").fetchall() == expected
    db.execute("INSERT INTO t VALUES(-2, 'later')")
    assert db.execute("SELECT count(*) FROM t").fetchone() == (802,)
    db.close()


def test_leveldbs_own_lock(tmp_path: Path) -> None:
    """A program without the module has the database open."""
    path = tmp_path / "kv"
    db = connect()
    create(db, path)
    db.execute("INSERT INTO t VALUES(1, 'a')")
    db.close()
    pipe = subprocess.PIPE
    with subprocess.Popen([program("foreign"), path, "0", "0"], stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout and other.stdout.readline() == "open\n"
        db = connect()
        with pytest.raises(sqlite3.OperationalError, match=f"^sqlitekv: {path} is in use$"):
            create(db, path)
        other.communicate("")
    create(db, path)
    assert db.execute("SELECT * FROM t").fetchall() == [(1, "a")]
    db.close()


@pytest.mark.parametrize("name", ["kv", "link"])
def test_another_copy_of_the_extension(name: str, tmp_path: Path) -> None:
    """Two copies in a process share nothing, and LevelDB's lock is for the process."""
    copy = tmp_path / "copy/sqlitekv.so"
    copy.parent.mkdir()
    shutil.copy(extension().with_suffix(".so"), copy)
    (tmp_path / "link").symlink_to("kv")
    db, other = connect(), connect(library=copy.with_suffix(""))
    create(db, tmp_path / "kv")
    for number in range(5):
        with pytest.raises(sqlite3.OperationalError, match=f"^sqlitekv: {tmp_path / name} is in use$"):
            create(other, tmp_path / name)
        db.execute("INSERT INTO t VALUES(?, 'a')", (number,))
    db.close()
    create(other, tmp_path / name)
    assert other.execute("SELECT count(*) FROM t").fetchone() == (5,)
    other.close()


def test_a_copy_shares_no_symbol() -> None:
    """A program with another LevelDB would have its functions called, or its data used."""
    command = ["nm", "-D", "--defined-only", extension().with_suffix(".so")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["sqlite3_sqlitekv_init"]


def test_loading_it_again_changes_nothing(tmp_path: Path) -> None:
    copy = tmp_path / "copy/sqlitekv.so"
    copy.parent.mkdir()
    shutil.copy(extension().with_suffix(".so"), copy)
    db = connect()
    create(db, tmp_path / "kv")
    for table, library in (("u", extension()), ("w", copy.with_suffix(""))):
        db.load_extension(str(library))
        db.execute(f"CREATE VIRTUAL TABLE {table} USING sqlitekv('{tmp_path / 'kv'}', v)")
    for table in ("t", "u", "w"):
        db.execute(f"INSERT INTO {table}(v) VALUES('a')")
        assert db.execute(f"SELECT v FROM {table}").fetchall() == [("a",)]
    db.close()
