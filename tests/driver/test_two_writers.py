"""A thread of the driver that writes, too: both commit, and each wait and SQLITE_BUSY is counted."""

import sqlite3

import pytest
from conftest import ok, one_line_error

from analysis.adapters import drivertables
from commitpath.cells.from_variables import make_cell
from model.expected_state import hashes, oracle


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("timeout", [0, 5000])
def test_no_row_is_lost(newest, mode, timeout):
    """With a timeout SQLite waits itself; without a pace one of them has the lock nearly always."""
    newest.populate()
    pace = 10**7 if timeout else 0
    newest.run_ok("--writers", 2, "--busy-timeout", timeout, "--pace-ns", pace, n=30, mode=mode)
    config = newest.config()
    assert (config["effective"]["writers"], config["effective"]["busy_timeout"]) == ("2", timeout)
    first, second = (config["writers"][name] for name in ("first", "second"))
    assert first["transactions"] == 90 and 1 <= second["transactions"] <= 90
    assert min(first["longest_wait_ns"], second["longest_wait_ns"], second["ns"]) > 0
    assert (first["busy"] + second["busy"] > 0) == (timeout == 0)
    with sqlite3.connect(newest.database) as db:
        assert db.execute("SELECT count(*) FROM second_writer").fetchone() == (second["transactions"],)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_each_commit_is_recorded_in_its_order(newest):
    """The recorded order of the commits gives the rows of both tables."""
    newest.populate()
    newest.run_ok("--writers", 2, "--busy-timeout", 5000, "--pace-ns", 10**6, n=10, mode="wal")
    both = drivertables.commits(newest.output / "commits.csv")
    config = newest.config()
    counts = [both.filter(writer=number).height for number in (1, 2)]
    assert counts == [config["writers"][name]["transactions"] for name in ("first", "second")]
    cell = make_cell({"ROWS": "50", "N": "10", "VALUE_SIZE": "3072", "WRITERS": "2"})
    states = oracle.after_each(cell, ["insert", "update", "delete"], both["writer"].to_list())
    with sqlite3.connect(newest.database) as db:
        assert hashes.tables(db, *oracle.tables(cell)) == states[-1]


def test_a_batch_is_one_transaction(driver):
    """Its BEGIN is that of the writer."""
    where = ("--database", driver.database, "--workload", "mix", "--rows", 20, "--value-size", 100)
    ok(driver("populate", *where))
    more = ("--output-dir", driver.output, "--n", 40, "--mix", "insert=100", "--batch", 3, "--writers", 2)
    ok(driver("run", *where, *more, "--journal-mode", "wal", "--synchronous", "full"))
    config = driver.config()
    assert config["rows_after"] == config["rows_before"] + 3 * config["writers"]["first"]["transactions"]


def test_one_writer_reports_none(newest):
    newest.populate()
    newest.run_ok()
    assert not (newest.output / "commits.csv").exists()
    assert "writers" not in newest.config() and newest.config()["effective"]["writers"] == "1"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--vfs-log",), "--writers 2: calls of two threads are not logged"),
        (("--locking-mode", "exclusive"), "database is locked"),
    ],
)
def test_what_two_writers_cannot_have(newest, more, says):
    newest.populate()
    assert says in one_line_error(newest.run("--writers", 2, *more), 1)
