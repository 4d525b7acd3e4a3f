"""LevelDB databases of other programs: sqlitekv refuses them unchanged, and uses one that is empty."""

import sqlite3
import subprocess
from pathlib import Path

import pytest
from extension import connect, contents, create, program


def write(path: Path, rows: int, size: int) -> None:
    """Write a database by LevelDB itself; again, it makes a table of its log first."""
    command = [program("foreign"), path, str(rows), str(size)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("writes", "kinds"),
    [
        ([(100, 100)], {".log"}),
        ([(100, 100), (0, 0)], {".log", ".ldb"}),
        ([(20000, 1000), (1, 100)], {".log", ".ldb"}),
        # no value, and in a log one record
        ([(1, 0)], {".log"}),
    ],
)
def test_a_leveldb_database_stays(writes: list[tuple[int, int]], kinds: set[str], tmp_path: Path) -> None:
    path = tmp_path / "other"
    for rows, size in writes:
        write(path, rows, size)
    before = contents(path)
    assert {Path(name).suffix for name in before if "." in name} - {".old"} == kinds
    db = connect(tmp_path / "main.db")
    message = f"^sqlitekv: {path} is a LevelDB database of another program$"
    for columns in ("id INTEGER PRIMARY KEY, v TEXT", "sync=off"):
        with pytest.raises(sqlite3.DatabaseError, match=message):
            create(db, path, columns)
    # declared when the folder had a table of sqlitekv
    kept = tmp_path / "kept"
    create(db, kept)
    db.close()
    kept.rename(tmp_path / "moved")
    path.rename(kept)
    db = connect(tmp_path / "main.db")
    with pytest.raises(sqlite3.OperationalError, match=message.replace("other is", "kept is")):
        db.execute("SELECT * FROM t")
    db.execute("DROP TABLE t")
    assert db.execute("SELECT * FROM sqlite_master").fetchall() == []
    db.close()
    assert contents(kept) == before


def test_an_empty_leveldb_database_is_used(tmp_path: Path) -> None:
    write(tmp_path / "kv", 0, 0)
    db = connect()
    with pytest.raises(sqlite3.Error, match=r"kv has no tables of sqlitekv$"):
        db.execute(f"CREATE VIRTUAL TABLE t USING sqlitekv('{tmp_path / 'kv'}')")
    create(db, tmp_path / "kv")
    db.execute("INSERT INTO t VALUES(1, 'a')")
    assert db.execute("SELECT * FROM t").fetchall() == [(1, "a")]
    db.close()
