"""acknowledged.bin: what a run that did not end had acknowledged."""

import re
import signal
import sqlite3
import struct
import subprocess
import time

import pytest
from conftest import one_line_error
from test_failures import limit_file_size

HEADER, RECORD = struct.Struct("<8sQ"), struct.Struct("<QQqiiII")


def acknowledged(path):
    """(capacity, [(begin_ns, end_ns, bytes, changes, rows, phase, kind) of each transaction that began])."""
    content = path.read_bytes()
    magic, capacity = HEADER.unpack_from(content)
    assert magic == b"CPACKED\x01"
    records = list(RECORD.iter_unpack(content[HEADER.size :]))
    assert len(records) == capacity
    begun = [record for record in records if record[0]]
    assert begun == records[: len(begun)]
    return capacity, begun


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_run_that_fails_leaves_what_it_had_acknowledged(driver, mode):
    driver.populate()
    limit = driver.database.stat().st_size + 65536
    line = one_line_error(driver.run(mode=mode, n=100, preexec_fn=limit_file_size(limit)), 1)
    failed = int(re.search(r"transaction ([0-9]+), phase insert", line)[1])
    capacity, begun = acknowledged(driver.output / "acknowledged.bin")
    assert capacity == 300
    assert [end > 0 for _, end, *_ in begun] == [True] * failed + [False]
    assert {record[2:] for record in begun[:failed]} == {(0, 1, 0, 0, 0)}
    times = [time for begin, end, *_ in begun[:failed] for time in (begin, end)]
    assert times == sorted(times)
    with sqlite3.connect(driver.database) as db:
        assert db.execute("SELECT count(*) FROM sample").fetchone() == (50 + failed,)


def test_a_killed_run_leaves_what_it_had_acknowledged(newest):
    """Each acknowledged insert is in the database, and at most one more."""
    newest.populate()
    options = ["--database", newest.database, "--output-dir", newest.output, "--phases", "insert"]
    options += ["--rows", 50, "--n", 1_000_000, "--journal-mode", "wal", "--synchronous", "off"]
    process = subprocess.Popen([str(word) for word in (newest.binary, "run", *options)])
    path, size = newest.output / "acknowledged.bin", HEADER.size + 300 * RECORD.size
    deadline = time.monotonic() + 60
    while not path.exists() or not any(path.open("rb").read(size)[-RECORD.size :]):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    acknowledgements = sum(end > 0 for _, end, *_ in acknowledged(path)[1])
    assert acknowledgements >= 299
    with sqlite3.connect(newest.database) as db:
        (rows,) = db.execute("SELECT count(*) FROM sample").fetchone()
    assert rows - 50 - acknowledgements in (0, 1)
