"""A key too long, a full disk and damage: one line, and what was committed is there. And the direct form."""

import random
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from extension import connect, create, python

ROWS = 300


def fill(path: Path, rows: int = ROWS) -> list[tuple[int, str]]:
    """Make a database with tables and a log, one transaction a row; return the rows."""
    db = connect()
    db.execute(f"CREATE VIRTUAL TABLE t USING sqlitekv('{path}', sync=off, id INTEGER PRIMARY KEY, v TEXT)")
    expected = [(number, f"{number}:" + "abcdefghij" * (number % 50)) for number in range(rows)]
    for row in expected[: rows // 2]:
        db.execute("INSERT INTO t VALUES(?, ?)", row)
    db.close()
    # opening it makes a table of the log
    db = connect()
    db.execute(f"CREATE VIRTUAL TABLE t USING sqlitekv('{path}', sync=off)")
    for row in expected[rows // 2 :]:
        db.execute("INSERT INTO t VALUES(?, ?)", row)
    db.close()
    return expected


def test_a_key_that_is_too_long(tmp_path: Path) -> None:
    db = connect()
    create(db, tmp_path / "kv", "k TEXT PRIMARY KEY, v")
    db.execute("INSERT INTO t VALUES('first', 1)")
    db.execute("INSERT INTO t VALUES(?, 2)", ("a" * 65000,))
    with pytest.raises(
        sqlite3.DataError, match=r"^sqlitekv: a key of table t has 70005 bytes; at most 65536 are possible$"
    ):
        db.execute("INSERT INTO t VALUES(?, 3)", ("a" * 70000,))
    assert db.execute("SELECT v FROM t ORDER BY v").fetchall() == [(1,), (2,)]
    db.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """A limit of the size of files stands for it; LevelDB's log is the first that reaches it."""
    path = tmp_path / "kv"
    code = f"""
import resource, signal
from extension import connect
db = connect()
db.execute("CREATE VIRTUAL TABLE t USING sqlitekv({str(path)!r}, id INTEGER PRIMARY KEY, v)")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
for number in range(1000):
    try:
        db.execute("INSERT INTO t VALUES(?, ?)", (number, "x" * 900))
    except Exception as error:
        print(error)
        break
    print(number)
try:
    db.execute("INSERT INTO t VALUES(5000, 1)")
except Exception as error:
    print(error)
print(db.execute("SELECT count(*) FROM t").fetchone()[0])
"""
    done = subprocess.run(python(code), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *committed, full, poisoned, count = done.stdout.splitlines()
    assert re.fullmatch(rf"sqlitekv: {path}: IO error: .*\.log: File too large", full)
    assert poisoned == f"sqlitekv: {path}: an earlier write failed; close the database and open it again"
    assert len(committed) > 50 and int(count) == len(committed)
    db = connect()
    create(db, path, "id INTEGER PRIMARY KEY, v")
    assert [row for (row,) in db.execute("SELECT id FROM t ORDER BY id")] == [int(one) for one in committed]
    db.execute("INSERT INTO t VALUES(5000, 1)")
    db.close()


READ = """
from extension import connect
db = connect()
try:
    db.execute("CREATE VIRTUAL TABLE t USING sqlitekv(" + repr({path!r}) + ")")
    for row in db.execute("SELECT * FROM t ORDER BY id"):
        print(*row)
except Exception as error:
    print("error:", error)
"""


FORK = """
print("---", flush=True)
if not os.fork():
{read}
    sys.stdout.flush()
    os._exit(0)
assert os.wait()[1] == 0
"""


def test_damage_is_an_error_or_changes_nothing(tmp_path: Path) -> None:
    """A bit of each file is changed. Only the length of a record at the log's end can look like a write that
    was cut off, and ends the log there."""
    expected = [f"{number} {text}" for number, text in fill(tmp_path / "kv")]
    rng = random.Random(1)
    names = sorted(path.name for path in (tmp_path / "kv").iterdir() if path.stat().st_size)
    code = []
    places = []
    for name in names:
        for trial in range(4):
            copy = tmp_path / f"{name}-{trial}"
            shutil.copytree(tmp_path / "kv", copy)
            damaged = bytearray((copy / name).read_bytes())
            place = rng.randrange(len(damaged))
            damaged[place] ^= 1 << rng.randrange(8)
            (copy / name).write_bytes(damaged)
            places.append((name, place))
            code.append(
                FORK.format(
                    read="".join(f"    {line}\n" for line in READ.format(path=str(copy)).splitlines())
                )
            )
    command = python("import os\n" + "".join(code))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outputs = [text.strip("\n").splitlines() for text in done.stdout.split("---\n")[1:]]
    assert len(outputs) == len(places)
    errors = 0
    for (name, place), lines in zip(places, outputs, strict=True):
        failed = bool(lines) and lines[-1].startswith("error: ")
        rows = lines[:-1] if failed else lines
        assert not failed or lines[-1].startswith("error: sqlitekv: ")
        assert rows == (expected[: len(rows)] if failed or name.endswith(".log") else expected), (name, place)
        errors += failed
    assert errors >= 10


def test_direct_form_gives_up_uniqueness(tmp_path: Path) -> None:
    db = connect()
    create(db, tmp_path / "kv", "form=direct, k TEXT PRIMARY KEY, v")
    db.execute("INSERT INTO t VALUES('a', 1), ('b', 2)")
    # an INSERT puts, and a DELETE puts an empty value
    db.execute("INSERT INTO t VALUES('a', 3)")
    for sql, constraint in (
        ("UPDATE t SET k = 'a' WHERE k = 'b'", r"UNIQUE constraint failed: t\.k"),
        ("INSERT INTO t VALUES(NULL, 1)", r"NOT NULL constraint failed: t\.k"),
    ):
        with pytest.raises(sqlite3.IntegrityError, match=f"^{constraint}$"):
            db.execute(sql)
    db.execute("DELETE FROM t WHERE k = 'b'")
    for sql, values in (("SELECT v FROM t WHERE k = ?", ("a",)), ("SELECT v FROM t", ())):
        assert db.execute(sql, values).fetchall() == [(3,)]
    assert db.execute("SELECT v FROM t WHERE k = 'b'").fetchall() == []
    db.close()
    log = b"".join(path.read_bytes() for path in (tmp_path / "kv").glob("*.log"))
    # LevelDB's record of a value: 1, the key with its length, the value with its length
    assert log.endswith(b"\x01\x06\x01\x01\x20b\x00\x01\x00")
    db = connect()
    create(db, tmp_path / "kv", "k TEXT PRIMARY KEY, v")
    db.execute("INSERT INTO t VALUES('b', 4)")
    with pytest.raises(sqlite3.IntegrityError, match=r"^UNIQUE constraint failed: t\.k$"):
        db.execute("INSERT INTO t VALUES('a', 5)")
    assert db.execute("SELECT * FROM t ORDER BY k").fetchall() == [("a", 3), ("b", 4)]
    db.close()
