"""The preload of a watched command notes its SQLite transactions and lock waits, under ASan and UBSan."""

import contextlib
import csv
import json
import os
import shlex
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import linked_with_sqlite

from analysis.adapters import drivertables

ROOT = Path(__file__).resolve().parents[2]
SANITIZED = "CFLAGS=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
MODES = ROOT / "tests/bench/programs/modes.py"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runner, the preload, and programs that use SQLite."""
    folder = tmp_path_factory.mktemp("preload")
    make = ["make", "-s", "-C", str(ROOT / "workloads/command"), SANITIZED]
    subprocess.run([*make, f"OUT={folder}/command"], check=True)
    subprocess.run([*make, "preload", "ENGINE=sqlite", f"OUT={folder}/sqlite.so"], check=True)
    linked_with_sqlite("hooks", folder)
    return folder


def run(built: Path, folder: Path, command: str) -> tuple[list[dict], dict, str]:
    """A command's transactions, its config.json, and what it printed."""
    asan = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    (folder / "db").mkdir()
    words = ["--folder", folder / "db", "--output-dir", folder / "out", "--device-stat", idle_disk()]
    subprocess.run(
        [built / "command", *words, "--preload", f"{asan}:{built / 'sqlite.so'}:", "--", command],
        check=True,
        timeout=120,
        stdout=subprocess.PIPE,
        env={**os.environ, "ASAN_OPTIONS": f"{os.environ['ASAN_OPTIONS']}:detect_leaks=0"},
    )
    config = json.loads((folder / "out/config.json").read_text())
    message = (folder / "out/stdout").read_text() + (folder / "out/stderr").read_text()
    with (folder / "out/transactions.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["path"] = drivertables.unescape(row["file"])
        row["file"] = Path(row["path"]).name
    assert config["command"].get("exit_status") == 0, message
    assert config["transactions"]["ended"] == len(rows)
    assert not (folder / "out/transactions.log").exists()
    return rows, config["transactions"], message


def idle_disk() -> Path:
    """The counters of a block device that nobody uses."""
    return next(
        path for path in sorted(Path("/sys/block").glob("*/stat")) if set(path.read_text()) <= {*"0 \n"}
    )


def python(text: str) -> str:
    """A command that runs this text."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(text)}"


def test_k_inserts_are_k_transactions_in_each_mode(built: Path, tmp_path: Path) -> None:
    rows, counted, message = run(built, tmp_path, f"{shlex.quote(sys.executable)} {shlex.quote(str(MODES))}")
    assert message == "done\n"
    found = Counter((row["file"], row["op"]) for row in rows)
    assert {number for (_, op), number in found.items() if op == "insert"} == {4}
    assert sum(op == "insert" for _, op in found) == 24
    # the switch to WAL writes the database's header
    wal = {f"wal-{level}.db" for level in ("off", "normal", "full", "extra")}
    assert {(file, op) for file, op in found if op != "insert"} == {
        *((file, "create") for file, _ in found),
        *((file, "pragma") for file in wal),
    }
    assert all(row["changes"] == "1" for row in rows if row["op"] == "insert")
    locks = {"busy": 0, "sleeps": 0, "slept_ns": 0}
    assert (
        counted
        == {"processes": 1, "ended": len(rows), "unseen_pages": 0, "unfollowed": 0, "attached": []} | locks
    )
    begins = [int(row["begin_ns"]) for row in rows]
    assert begins == sorted(begins)


def test_hooks_of_the_program_are_its_own(built: Path, tmp_path: Path) -> None:
    rows, counted, message = run(built, tmp_path, str(built / "hooks"))
    (tmp_path / "alone").mkdir()
    alone = subprocess.run(
        [built / "hooks"], cwd=tmp_path / "alone", text=True, capture_output=True, check=True
    )
    assert message == alone.stdout + alone.stderr
    assert [(row["op"], row["changes"]) for row in rows] == [
        *(("create", "0"), ("insert", "1"), ("begin", "2"), ("savepoint", "1"), ("pragma", "0")),
        *(("update", "2"), ("vacuum", "0"), ("insert", "1"), ("insert", "1"), ("create", "0")),
    ]
    assert {row["rolled_back"] for row in rows} == {"0"}
    assert (counted["unseen_pages"], counted["unfollowed"]) == (0, 0)


def test_each_database_has_its_whole_path(built: Path, tmp_path: Path) -> None:
    names = [
        "with space.db",
        "two\nlines.db",
        'ümläut,"q\\x41.db',
        "l" * 200 + ".db",
        "a/same.db",
        "b/same.db",
    ]
    text = f"""
import os, sqlite3
os.mkdir("a"); os.mkdir("b")
for name in {names}:
    sqlite3.connect(name).execute("create table t (a)")
database = sqlite3.connect(":memory:", isolation_level=None)
database.execute("attach ? as 'an other'", ("at tached.db",))
database.execute('create table "an other".t (a)')
"""
    rows, counted, message = run(built, tmp_path, python(text))
    assert message == ""
    here = tmp_path / "db"
    assert [row["path"] for row in rows] == [*(str(here / name) for name in names), ""]
    assert [drivertables.unescape(path) for path in counted["attached"]] == [str(here / "at tached.db")]
    table = drivertables.noted_transactions(tmp_path / "out/transactions.csv")
    assert table["file"].to_list() == [row["path"] for row in rows]


def test_threads_processes_and_two_connections(built: Path, tmp_path: Path) -> None:
    text = """
import multiprocessing, sqlite3, threading
def work(name, rows=20):
    database = sqlite3.connect(name, isolation_level=None)
    database.execute("create table t (a)")
    for number in range(rows):
        database.execute("insert into t values (?)", (number,))
    database.close()
threads = [threading.Thread(target=work, args=(f"{one}.db",)) for one in "abc"]
[one.start() for one in threads]; [one.join() for one in threads]
# a child that goes on with the log of its parent, and ends without tidying up
forked = multiprocessing.get_context("fork").Process(target=work, args=("forked.db",))
forked.start(); forked.join()
one, other = (sqlite3.connect(name, isolation_level=None) for name in ("one.db", "other.db"))
one.execute("begin"); one.execute("create table t (a)")
other.execute("create table t (a)")
one.execute("commit")
"""
    rows, counted, message = run(built, tmp_path, python(text))
    assert message == ""
    inserts = Counter(row["file"] for row in rows if row["op"] == "insert")
    assert inserts == {"a.db": 20, "b.db": 20, "c.db": 20, "forked.db": 20}
    assert len({row["tid"] for row in rows}) == 5
    assert [(row["file"], row["op"]) for row in rows[-2:]] == [("one.db", "begin"), ("other.db", "create")]
    assert int(rows[-2]["end_ns"]) > int(rows[-1]["end_ns"])
    assert (counted["unseen_pages"], counted["unfollowed"]) == (0, 0)
    assert counted["processes"] == 2


# A writer that holds the database's lock, one that does not wait for it, and one that waits until it is free.
LOCKED = """
import sqlite3, threading, time
holder = sqlite3.connect("a.db", isolation_level=None, check_same_thread=False)
holder.execute("create table t (a)")
holder.execute("begin exclusive")
impatient = sqlite3.connect("a.db", timeout=0, isolation_level=None)
for number in range(3):
    try:
        impatient.execute("insert into t values (1)")
    except sqlite3.OperationalError:
        pass
timer = threading.Timer(0.2, lambda: holder.execute("commit"))
timer.start()
sqlite3.connect("a.db", timeout=60, isolation_level=None).execute("insert into t values (1)")
timer.join()
time.sleep(0.05)
"""


def test_locked_databases_are_counted_and_how_long_sqlite_slept(built: Path, tmp_path: Path) -> None:
    """The program's own sleep is none of SQLite's."""
    rows, counted, message = run(built, tmp_path, python(LOCKED))
    assert (message, len(rows), counted["busy"]) == ("", 2, 3)
    assert counted["sleeps"] > 1
    assert 100_000_000 < counted["slept_ns"] < 60_000_000_000


def test_what_goes_on_behind_the_command_is_waited_for(built: Path, tmp_path: Path) -> None:
    _, _, message = run(
        built, tmp_path, "(sleep 0.5; echo late) & (exec > /dev/null 2>&1; sleep 1; echo > done) &"
    )
    assert message == "late\n"
    assert (tmp_path / "db/done").exists()


TWO_THREADS = """\
import pathlib, sqlite3, threading, time

def write(table):
    database = sqlite3.connect("large.db", isolation_level=None)
    database.execute(f"UPDATE {table} SET x=2")
    database.close()

first = threading.Thread(target=write, args=["first"])
first.start()
while not any(pathlib.Path("recorded").iterdir()):
    time.sleep(0.0001)
write("last")
first.join()
"""


def test_no_thread_writes_to_a_database_that_another_one_copies(built: Path, tmp_path: Path) -> None:
    """The copy of a recording is what the database had before."""
    (tmp_path / "recorded").mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "large.db")) as database:
        database.execute("CREATE TABLE first(x)")
        database.execute("INSERT INTO first VALUES(zeroblob(1)), (zeroblob(100000000))")
        database.execute("CREATE TABLE last(x)")
        database.execute("INSERT INTO last VALUES(1)")
        database.commit()
    before = (tmp_path / "large.db").read_bytes()
    asan = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    environment = os.environ | {
        "LD_PRELOAD": f"{asan}:{built / 'sqlite.so'}",
        "ASAN_OPTIONS": f"{os.environ['ASAN_OPTIONS']}:detect_leaks=0",
        "COMMITPATH_RECORD": str(tmp_path / "recorded"),
    }
    command = [sys.executable, "-c", TWO_THREADS]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, timeout=120)
    (path,) = (tmp_path / "recorded").glob("*-path")
    assert path.read_text() == str(tmp_path / "large.db")
    is_kept = path.with_name(path.name.removesuffix("-path")).read_bytes() == before
    assert is_kept
    assert (tmp_path / "recorded/transactions").read_text().count("transaction ") == 2
