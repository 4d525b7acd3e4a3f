"""Build the programs of tests/ssl for an engine; run their crashes, scenes and kills, and check what is left.

An engine is called `ssl`, or `ssl-3.8.11.1` with another release of SQLite than Debian's.
"""

import contextlib
import functools
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from made import make

from images import artifacts

FOLDER = Path(__file__).resolve().parent


@functools.cache
def built(engine: str) -> Path:
    """The folder of the programs, made once in a checkout; by one of the workers that run tests."""
    folder = FOLDER.parents[1] / "workloads/build/test" / engine
    name, dash, release = engine.partition("-")
    # the engines have one SQLite
    with artifacts.locked(folder.with_name(f"logs{dash}{release}")):
        make(FOLDER, f"ENGINE={name}", *([f"SQLITE={release}"] if release else []))
    return folder


def crash(engine: str, *words: str | int) -> tuple[dict, str]:
    """What crash.c counts, and its messages about runs that went wrong."""
    return count(engine, "crash", *words)


def count(engine: str, program: str, *words: str | int) -> tuple[dict, str]:
    """The same of another program."""
    line = [str(word) for word in (built(engine) / program, *words)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def scenes(log: str, path: str) -> dict[str, list[str]]:
    """Scenes of either kind of log (scenes.c) → a part of each line that it prints."""
    fixed = {
        "synchronous": "full",
        "journal_mode": "wal",
        "locking_mode": "exclusive",
        "wal_autocheckpoint": "0",
    }
    return {
        # in older releases it "is encrypted or is not"
        "unaware": ["is not a database"],
        "attached": ["is not a database", *["unable to open database: a.db"] * 2],
        "recreated": ["is of another database, or of one that was made anew"] * 2,
        "another": [f"its {log} {path} is of another database"],
        "missing": ["is not there, and the database needs it"],
        "restored": ["is not of what the database has now"],
        "version": ["is of version 9, and this reads 2"],
        "epoch": ["has records that are newer than its header"],
        "size": ["has 1048576 bytes, and was made with 458752"],
        "grown": ["has 1048577 bytes, and was made with 1048576"] * 2,
        "first": [],
        "damaged": ["has no header that is whole"],
        "knobs": [
            "the log's size is -1 bytes; 4096 to 1073741824 are allowed",
            "a checkpoint at -1 % of the log; 1 to 100 are allowed",
            "a checkpoint at -1 pages; 0 and more are allowed",
            "a line of 24 bytes; powers of two from 4 to 4096 are allowed",
            "-1 ns to write a line; 0 to 1000000 are allowed",
        ],
        "twice": ["/a.db is in use"],
        "unfinished": ["has statements that are not finalized"],
        "interrupted": [],
        "pragmas": [f"{name} is {value} in a database with a {log}" for name, value in fixed.items()],
        "crowded": [],
    }


def play(engine: str, scene: str, parts: list[str]) -> None:
    """A scene of scenes.c must succeed, and each line that it prints contain its part."""
    line = [str(built(engine) / "scenes"), scene]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(parts)
    for message, part in zip(lines, parts, strict=True):
        assert part in message


def kill(engine: str, medium: str, folder: Path) -> None:
    """A process is killed, and what it acknowledged is there when the log is recovered; this Python's SQLite
    does not open what it leaves."""
    for seed in range(1, 7):
        path = folder / f"{seed}.db"
        words = [str(built(engine) / "kill"), "run", medium, str(path), str(seed)]
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
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        assert (done.returncode, done.stderr) == (0, "")
        with sqlite3.connect(path) as closed:
            assert closed.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def in_its_place(engine: str, suffix: str, name: str, folder: Path) -> None:
    """What is no file, or another's, where a file of the log is to be: a line names it, and it stays."""
    path = folder / "1.db"
    place, other = path.with_name(f"1.db{suffix}"), folder / "other"
    other.write_text("another's")
    kinds: dict[str, Callable[[], object]] = {
        "a folder": place.mkdir,
        "a link": lambda: place.symlink_to(other),
        "a link to nothing": lambda: place.symlink_to(folder / "nothing"),
        "a short file": lambda: place.write_text("short"),
        "a file": lambda: place.write_text("of another kind\n" * 500),
    }
    if name != "merged pages":  # it is read only once it has something
        kinds["a pipe"] = lambda: os.mkfifo(place)
    for (kind, create), there in itertools.product(kinds.items(), (False, True)):
        if there:
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("CREATE TABLE kept(x)")
        create()
        before, content = place.lstat(), place.read_bytes() if place.is_file() else b""
        words = [str(built(engine) / "kill"), "run", "fdatasync", str(path), "1"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        assert (done.returncode, done.stdout) == (1, ""), kind
        assert done.stderr.startswith(f"kill: {path}: its {name} {place}"), (kind, done.stderr)
        assert done.stderr.count("\n") == 1
        assert kind not in ("a file", "a short file") or "is a file of another kind" in done.stderr, kind
        assert place.lstat().st_ino == before.st_ino and (not content or place.read_bytes() == content)
        assert other.read_text() == "another's"
        assert not (folder / "nothing").exists() and path.exists() == there
        place.rmdir() if kind == "a folder" else place.unlink()
        path.unlink(missing_ok=True)


def not_persistent(engine: str, log: str, folder: Path) -> None:
    """A file of this folder cannot be mapped with MAP_SYNC; nothing is made, and a database is as it was."""
    path = folder / "1.db"
    words = [str(built(engine) / "kill"), "run", "pcm", str(path), "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and done.stdout == ""
    assert f"{path}{log} is not in persistent memory: it cannot be mapped with MAP_SYNC (" in line
    assert not list(folder.iterdir())
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE kept(x)")
    made.close()
    assert subprocess.run(words, capture_output=True, check=False, timeout=300).returncode == 1
    assert list(folder.iterdir()) == [path]
    with sqlite3.connect(path) as left:
        assert left.execute("SELECT name FROM sqlite_master").fetchone() == ("kept",)
