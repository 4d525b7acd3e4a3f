"""Mobibench as its program does it: the table made by the run, each operation with a database opened anew."""

import pytest

WORDS = ("--workload", "mobibench_2014", "--value-size", 100)


def run(driver, *more, mode="delete", synchronous="full", n=20):
    """Populate, which makes a database without a page, and run."""
    driver.populate(*WORDS[:2], rows=0, value_size=100)
    assert driver.database.stat().st_size == 0
    driver.run_ok(*WORDS, "--vfs-log", *more, rows=0, n=n, mode=mode, synchronous=synchronous)
    return driver.table("vfs.csv")


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "wal"])
def test_its_transactions_are_those_of_mobibench(newest, mode):
    run(newest, mode=mode)
    rendered, changes = newest.rendered(), [row["changes"] for row in newest.table("transactions.csv")]
    # its result files are as they are
    for path in newest.output.iterdir():
        path.unlink()
    newest.populate("--workload", "mobibench", rows=0, value_size=100)
    newest.run_ok("--workload", "mobibench", "--value-size", 100, rows=0, n=20, mode=mode)
    assert newest.rendered() == rendered
    assert [row["changes"] for row in newest.table("transactions.csv")] == changes


def test_each_operation_has_a_new_log_and_its_checkpoint_is_timed(newest):
    calls = run(newest, "--checkpoint-every", 20, mode="wal", synchronous="normal")
    phases = {row["phase"]: row for row in newest.table("phases.csv")}
    logs = [row["begin_ns"] for row in calls if (row["file"], row["op"]) == ("wal", "delete")]
    assert len(logs) == 3
    for name in ("insert", "update", "delete"):
        begin, end = (int(phases[name][column]) for column in ("begin_ns", "end_ns"))
        # the log goes with the process, when nothing is timed
        assert not [time for time in logs if begin <= int(time) <= end]
        copied = [
            row
            for row in calls
            if (row["file"], row["op"]) == ("database", "sync") and begin <= int(row["begin_ns"]) <= end
        ]
        assert len(copied) == 1, name


def test_the_journal_is_there_before_the_database_grows(newest):
    calls = run(newest, mode="persist")
    first = next(row for row in calls if row["file"] == "journal")
    # made with the table, before the log of calls began: it is only opened again
    assert not [row for row in calls if (row["file"], row["op"]) == ("journal", "delete")]
    assert first["op"] == "open"
