"""The results database after a kill in a commit: the next command rolls it back, or reads its WAL."""

import shutil
import sqlite3
from pathlib import Path

from lab import Lab


def cut(database: Path) -> None:
    """Leave a database as a kill does in the middle of a commit: half written, with its journal beside it."""
    copy = database.with_name("copy.sqlite")
    shutil.copy(database, copy)
    connection = sqlite3.connect(copy, isolation_level=None)
    # so that pages are written to the file before the commit
    connection.execute("PRAGMA cache_size=1")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE lab SET label = 'half'")
    connection.execute("UPDATE run SET reasons = '[\"half\"]', host = host || ' '")
    journal = copy.with_name("copy.sqlite-journal")
    assert journal.read_bytes()[:8] == bytes.fromhex("d9d505f920a163d7")
    shutil.copy(copy, database)
    shutil.copy(journal, database.with_name(f"{database.name}-journal"))
    connection.close()
    copy.unlink()


def test_a_command_after_a_kill_in_a_commit(lab: Lab) -> None:
    """Of those that open the database, one that writes it and one that reads first."""
    for seed in range(20):
        lab.run(100.0 + seed, FS="f2fs", SEED=str(seed))
    lab.ok("results")
    database = lab.results / "results.sqlite"
    for target, variables in (("results", {}), ("compare", {"A": "seed=1", "B": "seed=2"})):
        whole = database.read_bytes()
        cut(database)
        assert database.read_bytes() != whole
        done = lab.make(target, **variables)
        assert done.returncode == 0, done.stderr
        assert "journal" not in done.stderr and "half" not in done.stderr, done.stderr
        assert not database.with_name("results.sqlite-journal").exists()
        with sqlite3.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM run WHERE status = 'ok'").fetchone() == (20,)
            query = "SELECT count(*) FROM run WHERE reasons LIKE '%half%'"
            assert connection.execute(query).fetchone() == (0,)


def test_a_write_ahead_log_that_a_kill_left_is_read(lab: Lab) -> None:
    lab.run(100.0)
    lab.ok("results")
    database = lab.results / "results.sqlite"
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("UPDATE run SET reasons = '[\"later\"]'")
    connection.commit()
    for kind in ("", "-wal"):
        shutil.copy(f"{database}{kind}", f"{database}{kind}.copy")
    connection.close()
    for kind in ("", "-wal"):
        Path(f"{database}{kind}.copy").rename(f"{database}{kind}")
    # the row is not as the folder has it, which the log alone says
    assert "1 run; 1 new or changed" in lab.ok("results")
    assert "1 run; 0 new or changed" in lab.ok("results")
