"""The statement log under ASan and UBSan: what is acknowledged is there after any crash, and nothing else.

`make -C tests/ssl` builds what this runs. The disk is one in memory (disk.c) whose power is cut; killed is
a process with real files.
"""

import functools
import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from images import artifacts

FOLDER = Path(__file__).resolve().parent
BUILT = FOLDER.parents[1] / "workloads/build/test/ssl"
# of crash.c; each of these is wanted to be met
CASES = (
    *(
        "clean",
        "log not begun or closed",
        "log reset; WAL reset",
        "log reset; WAL live",
        "log reset; WAL torn",
    ),
    *("log used; WAL reset", "log used; WAL live", "log used; WAL torn"),
    *("WAL ahead of the log", "WAL ahead of the log; copied"),
)
REASONS = (
    *("log full", "dirty pages", "requested", "after recovery", "larger than the log", "schema"),
    *("not repeatable", "other database", "failed statement", "not captured"),
)


@functools.cache
def built() -> Path:
    """The folder of the programs, made once in a checkout; by one of the workers that run tests."""
    with artifacts.locked(BUILT):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        command = ["make", "-s", "-C", str(FOLDER)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
    assert done.returncode == 0, done.stderr
    return BUILT


def crash(program: str, *words: str | int) -> tuple[dict, str]:
    """What crash.c or every.c counts, and what it says of runs that went wrong."""
    line = [str(word) for word in (built() / program, *words)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_power_cuts_lose_and_invent_nothing() -> None:
    """And each case of a recovery, and each reason of a checkpoint, is met."""
    counted, said = crash("crash", "cuts", "all", 100, 60)
    assert (counted["bad"], said) == (0, "")
    assert counted["recoveries"] == 240 and counted["cut recoveries"] > 100
    assert counted["acknowledged"] > 2000 and counted["in flight"] > 50 and counted["replayed"] > 200
    assert tuple(counted["cases"]) == CASES and min(counted["cases"].values()) > 0, counted["cases"]
    assert all(counted["checkpoints"][reason] > 0 for reason in REASONS), counted["checkpoints"]


@pytest.mark.parametrize("mix", ["plain", "values", "random", "blobs", "same"])
def test_power_cuts_of_one_kind(mix: str) -> None:
    counted, said = crash("crash", "cuts", mix, 1, 25)
    assert (counted["bad"], said) == (0, "")
    assert mix == "blobs" or counted["replayed"] > 500


@pytest.mark.parametrize(
    ("mix", "left_out"),
    [("values", "expanded"), ("same", "paper"), ("random", "ignore"), ("blobs", "blobs")],
)
def test_what_is_there_is_needed(mix: str, left_out: str) -> None:
    """expanded_sql for a record, recovery without ids, time and random numbers not captured, and blobs that
    are written unnoticed lose or invent something."""
    counted, said = crash("crash", "cuts", mix, 1, 25, left_out)
    assert counted["bad"] > 0
    assert "what is there is neither" in said


def test_without_capture_there_are_checkpoints() -> None:
    counted, said = crash("crash", "cuts", "random", 1, 10, "checkpoint")
    assert (counted["bad"], said) == (0, "")
    assert counted["checkpoints"]["not repeatable"] > 100


@pytest.mark.parametrize("fault", ["eio", "full", "short", "nomem"])
def test_a_call_that_fails_loses_nothing(fault: str) -> None:
    counted, said = crash("crash", "faults", fault, 1, 50)
    assert (counted["bad"], said) == (0, "")
    assert counted["failures"] > 50 and counted["recoveries"] > 100


@pytest.mark.parametrize("kind", ["eio", "short", "nomem", "full-disk", "cut", "killed"])
def test_some_calls_of_a_life(kind: str) -> None:
    """Each of them is tried by test_every_call.py, in `make test-long`."""
    counted, said = crash("every", kind, 11, 1571 if kind == "nomem" else 97)
    assert (counted["bad"], said) == (0, "")
    assert counted["recoveries"] >= counted["runs"] >= 10


def test_what_was_not_synced_before_a_kill_is_not_relied_on() -> None:
    """As the mark of a database whose log is used next, or a WAL for which the log is reset."""
    done = subprocess.run([built() / "unsynced"], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    counted = json.loads(done.stdout)
    assert counted["calls"] > 60 and counted["lives"] > 1000


# scene → a part of each line that it says
SCENES = {
    "unaware": ["file is not a database"],
    "attached": ["file is not a database", "unable to open database: a.db", "unable to open database: a.db"],
    "recreated": ["is of another database, or of one that was made anew"] * 2,
    "another": ["its statement log /a.db-sla is of another database"],
    "missing": ["is not there, and the database needs it"],
    "older": ["is of another database"],
    "version": ["is of version 9, and this reads 1"],
    "release": ["is of SQLite 3045897, and this is 3046001"],
    "epoch": ["has records that are newer than its header"],
    "size": ["has 1048576 bytes, and was made with 458752"],
    "truncated": ["has 5000 bytes, and was made", "has 100 bytes, and was made"],
    "damaged": ["has no header that is whole"],
    "knobs": [
        "the log's size is -1 bytes; 4096 to 1073741824 are allowed",
        "a checkpoint at -1 % of the log; 1 to 100 are allowed",
        "a checkpoint at -1 pages; 0 and more are allowed",
        "a line of 24 bytes; powers of two from 4 to 4096 are allowed",
        "-1 ns to write a line; 0 to 1000000 are allowed",
    ],
    "twice": ["/a.db is in use"],
    "interrupted": [],
    "unfinished": ["has statements that are not finalized"],
    "pragmas": [
        f"{name} is fixed in a database with a statement log"
        for name in ("synchronous", "journal_mode", "locking_mode", "wal_autocheckpoint")
    ],
    "inspected": [
        *("database: log ", "WAL: ", "8 transactions, "),
        *("database: no log is live", "WAL: absent", "log: absent"),
    ],
    "sizes": [],
    "largest": [],
    "authorizer": [],
    "temporary": [],
}


@pytest.mark.parametrize("scene", SCENES)
def test_scenes(scene: str) -> None:
    line = [str(built() / "scenes"), scene]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(SCENES[scene])
    for said, part in zip(lines, SCENES[scene], strict=True):
        assert part in said


@pytest.mark.parametrize("medium", ["fdatasync", "msync", "shared"])
def test_a_process_that_is_killed(tmp_path: Path, medium: str) -> None:
    """Whatever the log is on; and this Python's SQLite does not open what it leaves."""
    for seed in range(1, 7):
        path = tmp_path / f"{seed}.db"
        words = [str(built() / "kill"), "run", medium, str(path), str(seed)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            acknowledged = int(process.stdout.readline())
            time.sleep(0.03 * seed)
            process.send_signal(signal.SIGKILL)
            acknowledged = max([acknowledged, *(int(line) for line in process.stdout.read().split())])
        assert process.returncode == -signal.SIGKILL
        unaware = sqlite3.connect(path)
        with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
            unaware.execute("SELECT count(*) FROM t")
        unaware.close()
        words = [*words[:1], "verify", medium, str(path), str(seed), str(acknowledged)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        with sqlite3.connect(path) as closed:
            assert closed.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_memory_that_is_not_persistent_is_refused(tmp_path: Path) -> None:
    """A file of this folder cannot be mapped with MAP_SYNC; no log is left, and the database is as it was."""
    path = tmp_path / "1.db"
    words = [str(built() / "kill"), "run", "pcm", str(path), "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and done.stdout == ""
    assert f"{path}-sla is not in persistent memory: it cannot be mapped with MAP_SYNC (" in line
    assert not path.with_name("1.db-sla").exists()
    with sqlite3.connect(path) as left:
        assert left.execute("PRAGMA integrity_check").fetchone() == ("ok",)
