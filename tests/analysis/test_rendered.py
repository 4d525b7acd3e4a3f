"""What the engine was given is read as its transactions, and what is none is refused with its place."""

import gzip
import hashlib
import struct
from pathlib import Path

import pytest

from analysis.adapters import rendered
from analysis.adapters.rendered import Rendered
from base.errors import FileError
from model import engines
from model.operations import Transaction

INSERT, UPDATE, DELETE, READ = range(4)


def read(tmp_path: Path, engine: str, content: bytes, sql_bytes: int = 0) -> Rendered:
    (tmp_path / "rendered.gz").write_bytes(gzip.compress(content))
    return rendered.read(tmp_path / "rendered.gz", sql_bytes, engines.by_name(engine))


def operation(kind: int, value: bytes = b"", key: int = 7) -> bytes:
    return struct.pack(">BQI", kind, key, len(value)) + value


def test_sql(tmp_path: Path) -> None:
    content = (
        b"INSERT INTO t(v) VALUES('a');\n" * 2
        + b"BEGIN;CREATE TABLE u(a);INSERT INTO u VALUES(1);COMMIT;\n"
        + b"SELECT v FROM t WHERE id=1;\nDROP TABLE u;\n"
    )
    found = read(tmp_path, "sqlite", content)
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    assert found.transactions == (
        (Transaction(("insert",), False, 1), 2),
        (Transaction(("create", "insert"), True, 1), 1),
        (Transaction(("read",), False), 1),
        (Transaction(("drop",), False), 1),
    )
    assert (found.count, found.values) == (5, 3)
    assert read(tmp_path, "sqlite", b"").transactions == ()


@pytest.mark.parametrize(
    "line",
    [
        *(b"\n", b";\n", b"x\n", b"INSERT INTO t VALUES(1)\n", b"INSERT INTO t VALUES(1);"),
        *(b"insert INTO t VALUES(1);\n", b"PRAGMA synchronous=OFF;\n", b"DELETE FROM t;DELETE FROM t;\n"),
        *(b"BEGIN;DELETE FROM t;\n",),
        b"BEGIN;DELETE FROM t;COMMIT;BEGIN;DELETE FROM t;COMMIT;\n",
        *(b"INSERT INTO t(v)  VALUES('a');\n", b"UPDATE t SET v=x'00' WHERE id=1;\n"),
        b"INSERT INTO " + b"t" * 400 + b" VALUES('a');\n",
    ],
)
def test_no_transaction_of_sql(line: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"rendered\.gz: line 2: is not a transaction of SQLite; expected"):
        read(tmp_path, "sqlite", b"DELETE FROM t;\n" + line)


STATEMENTS = {
    b"INSERT INTO sample(value) VALUES('iii');": 3,
    b"UPDATE sample SET value='uuuu' WHERE id=97;": 4,
    b"DELETE FROM sample WHERE id=107;": 0,
    b"SELECT value FROM sample WHERE id=7;": 0,
    b"BEGIN;UPDATE sample SET value='b' WHERE id=1;UPDATE sample SET value='b' WHERE id=2;COMMIT;": 2,
    b"UPDATE tblMyList SET Value = 'ffggg' WHERE id = 12;": 5,
    # a row's key is no value of AndroBench's
    b"INSERT INTO benchmark(id,field_0,field_1) VALUES(12,'00012','00012i');": 11,
    b"UPDATE benchmark SET field_0='00012',field_1='00012u' WHERE id=12;": 11,
    b"INSERT INTO t1 VALUES(1,13153,'thirteen thousand');": 1 + 5 + 17,
    b"UPDATE t1 SET b=b*2 WHERE a>=0 AND a<10;": 0,
    b"UPDATE t2 SET b=468026 WHERE a=1;": 6,
    b"INSERT INTO t1 SELECT b,a,c FROM t2;": 0,
}


@pytest.mark.parametrize("line", STATEMENTS)
def test_bytes_of_values(line: bytes, tmp_path: Path) -> None:
    assert read(tmp_path, "sqlite", line + b"\n").values == STATEMENTS[line]


def test_keys_and_values(tmp_path: Path) -> None:
    """A value, a key and a length may have newlines in them."""
    batch = operation(UPDATE, b"\n\n", key=10) + operation(DELETE, key=0x0A0A)
    content = operation(INSERT, b"\n" * 10) + b"\n" + batch + b"\n" + (operation(READ) + b"\n") * 3
    assert read(tmp_path, "leveldb", content, 12).transactions == (
        (Transaction(("insert",), False, 10), 1),
        (Transaction(("update", "delete"), True, 2), 1),
        (Transaction(("read",), False), 3),
    )


@pytest.mark.parametrize(
    "end",
    [
        *(b"\n", operation(6) + b"\n", operation(INSERT, b"x")[:-1], operation(INSERT)),
        *(operation(INSERT)[:5], operation(INSERT) + b"\n\n", b"INSERT INTO t VALUES(1);\n"),
    ],
)
def test_no_transaction_of_keys(end: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"transaction [12]: is not a transaction of LevelDB"):
        read(tmp_path, "leveldb", operation(DELETE) + b"\n" + end)
