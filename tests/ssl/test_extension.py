"""The statement log in SQLite's shell: rows survive a kill; hooks, refused openings, other logs, inspection.

`make -C tests/ssl extension` builds it, under ASan and UBSan. The shell is the host's.
"""

import functools
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from made import make

from images import artifacts

FOLDER = Path(__file__).resolve().parent
BUILT = FOLDER.parents[1] / "workloads/build/test/ssl"
SCHEMA = """\
CREATE TABLE t(id INTEGER PRIMARY KEY, v, r DEFAULT (random()), at DEFAULT (julianday('now')));
CREATE TABLE n(rows INT);
CREATE TABLE w(id PRIMARY KEY) WITHOUT ROWID;
INSERT INTO n VALUES(0);
CREATE TRIGGER counted AFTER INSERT ON t BEGIN UPDATE n SET rows=rows+1; END;
"""
# What makes a row: each leaves one with the number it is given.
LOGGED = (
    "INSERT INTO t(id, v) VALUES({0}, hex(randomblob(5)));",
    "REPLACE INTO t(id, v) VALUES({0}, 0.1 + 0.2);",
    "/* ; */ INSERT INTO t(id, v) SELECT {0}, count(*) FROM t;",
)
NOT_LOGGED = (
    "BEGIN; INSERT INTO t(id, v) VALUES({0}, 1); COMMIT;",
    "BEGIN; INSERT INTO t(id, v) VALUES({0}, 1); SAVEPOINT a; DELETE FROM t; ROLLBACK TO a; END;",
    "INSERT OR FAIL INTO t(id, v) VALUES({0}, 'some'), (1, 'fails');",
    "INSERT INTO t(id, v) VALUES({0}, hex(sha3('of the shell')));",
    "INSERT INTO t(id, v) SELECT {0}, 'a' < 'b' COLLATE uint;",
    "INSERT INTO t(id, v) VALUES({0}, total_changes());",
    "INSERT INTO t(id, v) VALUES({0}, 1) RETURNING 'x';",
    "WITH a AS (SELECT 7) INSERT INTO t(id, v) SELECT {0}, * FROM a;",
    ".parameter set ?1 5\nINSERT INTO t(id, v) VALUES({0}, ?1);",
)
ROWS = "SELECT 'rows', json_group_array(json_array(id, v, r, at)), (SELECT rows FROM n) FROM t;\n"


@functools.cache
def built() -> Path:
    """The folder of the extension, made once in a checkout."""
    with artifacts.locked(BUILT):
        make(FOLDER, "extension")
    return BUILT


def test_it_compiles_with_the_oldest_releases_header() -> None:
    with artifacts.locked(BUILT):
        make(FOLDER, "extension-syntax")


class Shell:
    """SQLite's shell with a database that is opened with the log."""

    def __init__(self, path: Path, *parameters: str) -> None:
        sanitizer = subprocess.check_output(["cc", "-print-file-name=libasan.so"], text=True).strip()
        # the shell itself is no affair of ours, and is killed besides
        environment = {
            **os.environ,
            "LD_PRELOAD": sanitizer,
            "ASAN_OPTIONS": f"{os.environ['ASAN_OPTIONS']}:detect_leaks=0",
        }
        self.process = subprocess.Popen(
            ["sqlite3", "-batch", "-list"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=0,
            env=environment,
            # where it may not write further it gets an error, and no signal
            restore_signals=False,
        )
        uri = "&".join((f"file:{path}?vfs=ssl", *parameters))
        self.tell(f".load {built() / 'ssl'}\n.open '{uri}'\n")

    def tell(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text)

    def ask(self, text: str) -> list[str]:
        """Return what it prints for a text."""
        # with .output what it printed so far leaves it
        self.tell(text + ".print asked\n.output\n")
        return list(iter(self.line, "asked"))

    def line(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "it has ended"
        return line.rstrip("\n")

    def rows(self) -> tuple[dict[int, list[object]], int]:
        """Rows by their numbers, and how many inserts the trigger saw."""
        _, rows, count = self.ask(ROWS)[-1].split("|")
        return {row[0]: row for row in json.loads(rows)}, int(count)

    def stats(self) -> dict[str, int]:
        found: dict[str, int] = json.loads(self.ask("SELECT ssl_stats();\n")[-1])
        return found

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL

    def quit(self) -> str:
        """End it; return what it still prints."""
        message, _ = self.process.communicate(".quit\n", timeout=60)
        assert self.process.returncode == 0, message
        return message


@pytest.fixture(name="path")
def name_database(tmp_path: Path) -> Path:
    return tmp_path / "own.db"


def plain(path: Path, sql: str) -> str:
    """Return what the shell prints without the extension."""
    done = subprocess.run(["sqlite3", path, sql], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


def test_each_way_of_writing_is_there_after_a_kill(path: Path) -> None:
    shell = Shell(path)
    shell.tell(SCHEMA)
    for number, text in enumerate(LOGGED + NOT_LOGGED, 1):
        before = shell.stats()
        shell.ask(text.format(number) + "\n")
        logged = shell.stats()["logged"] - before.get("logged", 0)
        assert logged == (text in LOGGED), text
    logged = shell.stats()["logged"]
    # no hook sees its row
    shell.ask("INSERT INTO w VALUES(7);\n")
    assert shell.stats()["logged"] == logged
    rows, count = shell.rows()
    assert list(rows) == list(range(1, len(LOGGED + NOT_LOGGED) + 1)) and count == len(rows)
    # behind the last checkpoint
    shell.ask("DELETE FROM t WHERE id=2;\n")
    for number in range(100, 110):
        shell.ask(LOGGED[0].format(number) + "\n")
    acknowledged = shell.rows()
    shell.kill()
    assert "file is not a database" in plain(path, "SELECT * FROM t")
    shell = Shell(path)
    assert shell.rows() == acknowledged
    assert shell.quit() == ""
    assert plain(path, "PRAGMA integrity_check") == "ok"
    assert not path.with_name("own.db-sla").exists()


def test_it_may_be_killed_at_any_time(path: Path) -> None:
    """Rows are there as they were acknowledged, and at most the one in flight beside them."""
    drawn, acknowledged, last = random.Random(1), dict[int, list[object]](), 0
    shell = Shell(path, "log_size=8192", "dirty_pages=3")
    shell.ask(SCHEMA)
    for _ in range(12):
        for _ in range(drawn.randrange(1, 8)):
            last += 1
            shell.ask(drawn.choice(LOGGED + NOT_LOGGED[:3]).format(last) + "\n")
        acknowledged, count = shell.rows()
        assert len(acknowledged) == count == last
        shell.tell(LOGGED[0].format(last + 1) + "\n")
        time.sleep(drawn.random() * 0.01)
        shell.kill()
        shell = Shell(path, "log_size=8192", "dirty_pages=3")
        rows, count = shell.rows()
        assert {number: rows.get(number) for number in acknowledged} == acknowledged
        assert set(rows) - set(acknowledged) <= {last + 1} and count == len(rows)
        last = max(rows)
    shell.quit()
    assert plain(path, "PRAGMA integrity_check") == "ok"


@pytest.mark.parametrize(
    "takes", [".trace off", ".auth on", "PRAGMA case_sensitive_like=1;", ".dbconfig dqs_dml off"]
)
def test_a_hook_or_setting_that_is_taken_makes_checkpoints(path: Path, takes: str) -> None:
    shell = Shell(path)
    shell.tell(SCHEMA + LOGGED[0].format(1) + "\n")
    before = shell.stats()
    assert before["logged"] == 2
    shell.ask(f"{takes}\n{LOGGED[0].format(2)}\n")
    assert shell.stats()["logged"] == 2
    acknowledged = shell.rows()
    shell.kill()
    shell = Shell(path)
    assert shell.rows() == acknowledged
    shell.quit()


def test_a_database_has_one_connection(path: Path) -> None:
    shell = Shell(path)
    shell.ask(SCHEMA)
    other = Shell(path)
    assert f"{path} is in use" in other.process.communicate("SELECT 1;\n", timeout=60)[0]
    message = shell.ask(f".connection 1\n.open 'file:{path}?vfs=ssl'\n.connection 0\n")
    assert f"{path} is in use" in "\n".join(message)
    shell.quit()


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("log_size=7", "the log's size is 7 bytes; 4096 to 1073741824 are allowed"),
        ("log_size=64k", "log_size=64k in the name of a database is no whole number"),
        ("nolock=1", "nolock in the name of "),
    ],
)
def test_what_cannot_be_is_one_line(path: Path, parameter: str, expected: str) -> None:
    """And nothing is made, which SQLite had made before it asked."""
    shell = Shell(path, parameter)
    message = shell.process.communicate("SELECT 1;\n", timeout=60)[0]
    (line,) = [line for line in message.splitlines() if "Error" in line]
    assert expected in line
    assert not list(path.parent.iterdir())


def test_what_is_opened_to_be_read_is_not_recovered(path: Path) -> None:
    shell = Shell(path)
    shell.ask(SCHEMA)
    acknowledged = shell.rows()
    shell.kill()
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    reader = Shell(path, "mode=ro")
    assert "has a live statement log, and cannot be written to recover it" in "\n".join(reader.ask(""))
    reader.quit()
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before
    shell = Shell(path)
    assert shell.rows() == acknowledged
    assert shell.quit() == ""
    closed = Shell(path, "mode=ro")
    assert closed.rows() == acknowledged
    closed.quit()


def test_log_and_wal_are_of_their_database(path: Path) -> None:
    """It is deleted, or an older copy put in its place, with both left: they stay as they are."""
    older, kept = path.with_name("older"), path.with_name("kept")
    shell = Shell(path)
    shell.ask("CREATE TABLE older(x);\n")
    shell.quit()
    older.write_bytes(path.read_bytes())
    shell = Shell(path)
    shell.ask(SCHEMA + LOGGED[0].format(1) + "\n")
    acknowledged = shell.rows()
    shell.kill()
    path.rename(kept)
    files = {file: file.read_bytes() for file in path.parent.glob("own.db-*")}
    assert [file.suffix for file in sorted(files)] == [".db-sla", ".db-wal"]
    for copy in (None, older):
        if copy:
            path.write_bytes(copy.read_bytes())
        shell = Shell(path)
        message = "\n".join(shell.ask(""))
        assert f"{path}-sla is of another database, or of one that was made anew" in message
        shell.quit()
        assert {file: file.read_bytes() for file in path.parent.glob("own.db-*")} == files
        assert path.exists() == (copy is not None)
    kept.rename(path)
    shell = Shell(path)
    assert shell.rows() == acknowledged
    assert shell.quit() == ""


def test_inspecting_keeps_locks_and_descriptors(path: Path) -> None:
    """Of this process: closing a file drops all POSIX locks on it, but for SQLite's care."""
    shell = Shell(path)
    shell.ask(SCHEMA)

    def descriptors() -> int:
        return len(list(Path(f"/proc/{shell.process.pid}/fd").iterdir()))

    shell.ask(f"SELECT ssl_inspect('{path}');\n")
    before = descriptors()
    for _ in range(5):
        shell.ask(f"SELECT ssl_inspect('{path}');\n")
        assert plain(path, "SELECT 1 FROM t").endswith("database is locked (5)")
    assert descriptors() == before
    for made in ("CREATE VIEW v AS SELECT ssl_inspect('x')", "CREATE VIEW v AS SELECT ssl_stats()"):
        assert "unsafe use of ssl_" in shell.ask(f"{made};\nSELECT * FROM v;\nDROP VIEW v;\n")[0]
    shell.kill()
