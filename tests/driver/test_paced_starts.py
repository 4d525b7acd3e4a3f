"""Transactions start when --pace-ns or a recording has them, not earlier, even if a signal interrupts."""

import errno
import subprocess
from pathlib import Path

import pytest
from conftest import WORKLOADS, one_line_error

from model.statements import sqlfile


def begins(newest):
    return [int(row["begin_ns"]) for row in newest.table("transactions.csv")]


@pytest.mark.parametrize("start", [[], ["--start-on-second"]])
def test_a_transaction_does_not_start_before_it_is_due(newest, start):
    """Each at its place after the first, over all phases. So no sleep is in a latency, either."""
    newest.populate()
    pace = 20_000_000
    newest.run_ok("--pace-ns", pace, *start, n=5)
    times = begins(newest)
    late = [begin - times[0] - number * pace for number, begin in enumerate(times)]
    assert len(times) == 15
    assert min(late) >= 0
    assert newest.config()["driver"]["pace_ns"] == pace


def test_a_recording_starts_as_it_was_recorded(newest):
    schema = sqlfile.read("CREATE TABLE t(x);\n-- commitpath: transactions\nSELECT 1;").schema
    recorded = [
        one._replace(recorded_ns=ns)
        for one, ns in zip(
            sqlfile.statements("INSERT INTO t VALUES(1);\n" * 4, 1),
            (7_000_000, 37_000_000, 37_000_001, 97_000_000),
            strict=True,
        )
    ]
    (newest.folder / "schema").write_bytes(sqlfile.pack(schema))
    (newest.folder / "transactions").write_bytes(sqlfile.pack(recorded, timed=True))
    options = ("--workload", "sql", "--value-size", 1)
    newest.populate("--workload", "sql", "--file", newest.folder / "schema", rows=0, value_size=1)
    file = ("--file", newest.folder / "transactions")
    newest.run_ok(*options, *file, "--pace-ns", -1, rows=0, n=4)
    times = begins(newest)
    due = [0, 30_000_000, 30_000_001, 90_000_000]
    assert all(begin - times[0] >= ns for begin, ns in zip(times, due, strict=True))


@pytest.mark.parametrize("pace", ["-2", "3600000000001", "1s"])
def test_what_is_no_pace_is_refused(newest, pace):
    newest.populate()
    assert "--pace-ns" in one_line_error(newest.run("--pace-ns", pace), 2)


def test_a_wait_goes_on_after_a_signal_and_ends_the_run_on_an_error(tmp_path):
    program = tmp_path / "wait"
    sources = [Path(__file__).with_name("wait.c"), WORKLOADS / "fail.c"]
    options = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", f"-I{WORKLOADS}", "-Wl,--wrap=clock_nanosleep"]
    subprocess.run(["gcc", *options, "-o", program, *sources], check=True)

    def waited(error):
        return subprocess.run([program, str(error)], capture_output=True, text=True, check=False, timeout=60)

    assert waited(0).stdout == "3 calls\n"
    assert one_line_error(waited(errno.EINVAL), 1).endswith("ns of CLOCK_MONOTONIC: Invalid argument")
