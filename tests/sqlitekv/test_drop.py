"""DROP TABLE: of a table that is gone, and of one that is in use."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from extension import connect, create


def dropped(db: sqlite3.Connection) -> bool:
    db.execute("DROP TABLE t")
    return db.execute("SELECT * FROM sqlite_master").fetchall() == []


@pytest.mark.parametrize("kind", ["nothing", "file", "other files", "empty"])
def test_the_folder_is_gone(kind: str, tmp_path: Path) -> None:
    path, main = tmp_path / "kv", tmp_path / "main.db"
    db = connect(main)
    create(db, path)
    db.execute("INSERT INTO t VALUES(1, 'a')")
    db.close()
    shutil.rmtree(path)
    if kind == "file":
        path.write_text("mine", encoding="utf-8")
    elif kind != "nothing":
        path.mkdir()
    if kind == "other files":
        (path / "file").write_text("mine", encoding="utf-8")
    db = connect(main)
    reasons = {
        "nothing": ": No such file or directory",
        "file": ": Not a directory",
        "other files": " is not a LevelDB database: it has the file file",
        "empty": " has no LevelDB database",
    }
    for sql in ("SELECT * FROM t", "INSERT INTO t VALUES(2, 'b')", "UPDATE t SET v = 'c'", "DELETE FROM t"):
        with pytest.raises(sqlite3.OperationalError) as caught:
            db.execute(sql)
        assert str(caught.value) == f"sqlitekv: {path}{reasons[kind]}"
    assert dropped(db)
    db.close()
    left = {"nothing": [], "file": [path], "other files": [path, path / "file"], "empty": [path]}[kind]
    assert sorted(tmp_path.rglob("*")) == sorted([main, *left])
    if kind in ("nothing", "empty"):
        db = connect(main)
        create(db, path, "other")
        assert db.execute("SELECT * FROM t").fetchall() == []
        db.close()


def test_the_folder_goes_while_it_is_open(tmp_path: Path) -> None:
    db = connect(tmp_path / "main.db")
    create(db, tmp_path / "kv")
    db.execute("INSERT INTO t VALUES(1, 'a')")
    shutil.rmtree(tmp_path / "kv")
    assert dropped(db)
    create(db, tmp_path / "kv", "other")
    assert db.execute("SELECT * FROM t").fetchall() == []
    db.close()


def test_another_declaration_dropped_it(tmp_path: Path) -> None:
    """Two files of SQLite have the table."""
    path = tmp_path / "kv"
    for name in ("one", "two"):
        db = connect(tmp_path / name)
        create(db, path)
        db.close()
    db = connect(tmp_path / "one")
    assert dropped(db)
    db.close()
    db = connect(tmp_path / "two")
    with pytest.raises(sqlite3.OperationalError, match=f"^sqlitekv: {path} has no table t$"):
        db.execute("SELECT * FROM t")
    assert dropped(db)
    db.close()


def test_another_connection_uses_it(tmp_path: Path) -> None:
    path, main = tmp_path / "kv", tmp_path / "main.db"
    db = connect(main)
    create(db, path)
    db.execute("INSERT INTO t VALUES(1, 'a')")
    other = connect(main)
    with pytest.raises(sqlite3.OperationalError, match=f"^sqlitekv: {path} is in use$"):
        other.execute("DROP TABLE t")
    db.execute("INSERT INTO t VALUES(2, 'b')")
    rows = db.execute("SELECT * FROM t")
    assert rows.fetchone() == (1, "a")
    # SQLite's own rule, of a statement that reads it
    with pytest.raises(sqlite3.OperationalError, match=r"^database table is locked$"):
        db.execute("DROP TABLE t")
    assert rows.fetchall() == [(2, "b")]
    db.close()
    assert other.execute("SELECT * FROM t").fetchall() == [(1, "a"), (2, "b")]
    assert dropped(other)
    other.close()
