"""sqllogictest's files with and without the statement log: each statement and query has the same result, and
a database that a kill leaves at the end of a file has the same rows.

The extension is loaded into this Python's SQLite. Those files are played that sqllogictest.yml lists, fetched
from GitHub; or all, of the clone that COMMITPATH_SQLLOGICTEST names.
"""

import functools
import os
import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from made import make

from base.errors import LabError
from images import artifacts

FOLDER = Path(__file__).resolve().parent
BUILT = FOLDER.parents[1] / "workloads/build/test/ssl"
LISTED = yaml.safe_load((FOLDER / "sqllogictest.yml").read_text(encoding="utf-8"))
GIT_SECONDS = 120.0
# skipif and onlyif are of the database whose results a file has
RECORD = re.compile(r"^(statement|query)\b", re.MULTILINE)
NOT_OURS = re.compile(r"^(skipif sqlite|onlyif (?!sqlite))", re.MULTILINE)


def git(folder: Path | str, *words: str) -> str:
    """What git prints; LabError with its message."""
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=GIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"git {words[0]}: no end within {GIT_SECONDS:.0f} s") from error
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip().splitlines()
        raise LabError((message or [f"git {words[0]} failed"])[-1])
    return done.stdout.decode()


@functools.cache
def repository() -> str:
    """A clone that has the commit; of one that is fetched, the files come when they are asked for."""
    if named := os.environ.get("COMMITPATH_SQLLOGICTEST"):
        return named
    folder = BUILT / "sqllogictest.git"
    with artifacts.locked(folder):
        if not (folder / "FETCH_HEAD").exists():
            folder.mkdir(parents=True, exist_ok=True)
            git(folder, "init", "-q", "--bare")
            git(folder, "config", "remote.origin.url", LISTED["url"])
            git(folder, "fetch", "-q", "--depth=1", "--filter=blob:none", "origin", LISTED["commit"])
    return str(folder)


def files() -> list[str]:
    """Of a clone all, if it has the commit; else those that are listed."""
    try:
        clone = os.environ["COMMITPATH_SQLLOGICTEST"]
        names = git(clone, "ls-tree", "-r", "--name-only", LISTED["commit"], "test/").split()
    except (KeyError, LabError):
        return list(LISTED["files"])
    return [name.removeprefix("test/").removesuffix(".test") for name in names]


def text_of(file: str) -> str:
    try:
        return git(repository(), "show", f"{LISTED['commit']}:test/{file}.test")
    except LabError as error:
        pytest.skip(f"sqllogictest: {error}; COMMITPATH_SQLLOGICTEST names a clone of it")


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


def records(text: str) -> Iterator[tuple[str, str]]:
    """The head of a statement or query, and its SQL."""
    for record in re.split(r"\n\s*\n", text.replace("\r", "")):
        found = RECORD.search(record)
        if found is None or NOT_OURS.search(record[: found.start()]):
            continue
        head, _, sql = record[found.start() :].partition("\n")
        yield head, sql.split("\n----")[0]


def result(db: sqlite3.Connection, head: str, sql: str) -> list[tuple[object, ...]] | str:
    """Rows, or what is wrong."""
    try:
        # there may be two in one record
        return (db.execute if head.startswith("query") else db.executescript)(sql).fetchall()
    except sqlite3.Error as error:
        return str(error)


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
