"""sqllogictest's files with and without the statement log: each statement and query has the same result, and
a database that a kill leaves at the end of a file has the same rows.

The extension is loaded into this Python's SQLite. Those files are played that sqllogictest.yml lists, fetched
from GitHub; or all, of the clone that COMMITPATH_SQLLOGICTEST names.
"""

import functools
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from made import make
from sqllogictest import files, records, result, text_of

from images import artifacts

FOLDER = Path(__file__).resolve().parent
BUILT = FOLDER.parents[1] / "workloads/build/test/ssl"


@pytest.fixture(name="played", scope="module")
def count_all() -> Iterator[Counter[str]]:
    """What was played of all files, which is printed at the end."""
    played = Counter[str]()
    yield played
    print(f"\n{played['file']} files: {summary(played)}")


def summary(played: Counter[str]) -> str:
    return f"{played['statement']} statements and {played['query']} queries"


@functools.cache
def extension() -> Path:
    path = BUILT / "plain/ssl.so"
    with artifacts.locked(path):
        make(FOLDER.parents[1] / "workloads/engines/ssl/extension", f"OUT={path}")
    loader = sqlite3.connect(":memory:")
    loader.enable_load_extension(True)
    loader.load_extension(str(path.with_suffix("")))
    loader.close()
    return path


def logged(path: Path) -> sqlite3.Connection:
    """A database with a log that fills at times."""
    extension()
    return sqlite3.connect(f"file:{path}?vfs=ssl&log_size=65536", uri=True, isolation_level=None)


def dumped(db: sqlite3.Connection) -> list[str]:
    return list(db.iterdump())


def stats(db: sqlite3.Connection) -> str:
    (message,) = db.execute("SELECT ssl_stats()").fetchone()
    return str(message)


def play(text: str, ours: sqlite3.Connection, plain: sqlite3.Connection) -> Counter[str]:
    """Play the text on both; return how many statements and queries that were."""
    played = Counter[str]()
    for head, sql in records(text):
        expected, found = result(plain, head, sql), result(ours, head, sql)
        failed = isinstance(expected, str)
        assert head.startswith("query") or failed == (head == "statement error"), f"{sql}: {expected}"
        assert found == expected, sql
        played[head.split()[0]] += 1
    return played


def compare(file: str, text: str, folder: Path) -> Counter[str]:
    ours, plain = logged(folder / "own.db"), sqlite3.connect(":memory:", isolation_level=None)
    played = play(text, ours, plain)
    # one of the repository's is empty
    assert played.total() > 0 or not text
    rows = dumped(plain)
    assert dumped(ours) == rows
    print(f"{file}: {summary(played)}, {stats(ours)}")
    # as a process that is killed leaves them
    killed = folder / "killed"
    killed.mkdir()
    for left in folder.glob("own.db*"):
        shutil.copy(left, killed)
    ours.close()
    again = logged(killed / "own.db")
    assert dumped(again) == rows
    again.close()
    closed = sqlite3.connect(killed / "own.db")
    assert dumped(closed) == rows
    closed.close()
    plain.close()
    return played


@pytest.mark.parametrize("file", files())
def test_results_are_those_without_the_log(file: str, tmp_path: Path, played: Counter[str]) -> None:
    found = compare(file, text_of(file), tmp_path)
    played += found + Counter(file=found.total() > 0)


def test_another_result_is_seen(tmp_path: Path) -> None:
    text = "statement ok\nCREATE TABLE t(x)\n\nskipif mysql\nquery I\nSELECT 1\n----\n1\n"
    ours, plain = logged(tmp_path / "own.db"), sqlite3.connect(":memory:", isolation_level=None)
    assert play(text, ours, plain) == {"statement": 1, "query": 1}
    ours.execute("INSERT INTO t VALUES(1)")
    with pytest.raises(AssertionError, match="SELECT x FROM t"):
        play("query I\nSELECT x FROM t\n", ours, plain)
    with pytest.raises(AssertionError, match="no such table: other"):
        play("statement ok\nDROP TABLE other\n", ours, plain)
    assert play("onlyif mysql\nstatement ok\nDROP TABLE other\n", ours, plain) == {}
    ours.close()
    plain.close()
