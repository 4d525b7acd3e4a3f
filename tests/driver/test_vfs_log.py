"""vfs.csv of SQLite has the syncs of the wrapped calls and the documented fields; errors pass unchanged."""

import itertools

import pytest
from conftest import one_line_error
from test_failures import limit_file_size
from test_syncs import CELLS, sync_counts

COLUMNS = ["call", "op", "file", "begin_ns", "end_ns", "inode", "offset", "bytes", "page", "result"]
OPS = {"open", "close", "write", "sync", "truncate", "delete", "shm_map"}


def calls(driver):
    """vfs.csv with its numbers as int, None where a field is empty."""
    return [
        {k: v if k in ("op", "file") else int(v) if v else None for k, v in row.items()}
        for row in driver.table("vfs.csv")
    ]


def with_syncs(log):
    """Each call with `syncs`: those of the filesystem that it stands for (docs/reference/formats.md)."""
    directory_due = {}
    for call in log:
        call["syncs"] = 0
        if call["op"] == "open":
            directory_due[call["inode"], call["file"]] = call["bytes"]
        elif call["op"] == "sync":
            call["syncs"] = 1 + directory_due.get((call["inode"], call["file"]), 0)
            directory_due[call["inode"], call["file"]] = 0
        elif call["op"] == "delete":
            call["syncs"] = call["bytes"]
    return log


def inside(log, row):
    """The calls between a row's begin and end."""
    begin, end = int(row["begin_ns"]), int(row["end_ns"])
    return [call for call in log if begin <= call["begin_ns"] and call["end_ns"] <= end]


def skip_extra(driver, level):
    if level == "extra" and driver.binary.name.endswith("3.8.11.1"):
        pytest.skip("SQLite 3.8.11.1 has no synchronous=extra; test_failures.py checks that")


@pytest.mark.parametrize(("mode", "level", "count"), CELLS)
def test_syncs_are_those_of_the_wrapped_calls_and_of_the_oracle(driver, mode, level, count):
    skip_extra(driver, level)
    driver.populate()
    wrapped, outside = sync_counts(driver, "--vfs-log", mode=mode, synchronous=level)
    log = with_syncs(calls(driver))
    transactions = driver.table("transactions.csv")
    seen = {int(t["transaction"]): sum(c["syncs"] for c in inside(log, t)) for t in transactions}
    assert seen == wrapped
    # the first one creates the journal
    rest = [(t["op"], t["changes"] != "0", seen[int(t["transaction"])]) for t in transactions[1:]]
    assert {(op, syncs) for op, changed, syncs in rest if changed} == {
        (op, count) for op in ("insert", "update", "delete")
    }
    assert {syncs for _, changed, syncs in rest if not changed} <= {0}
    assert (outside["insert"], outside["update"], outside["delete"]) == (0, 0, 0)
    phases = {p["phase"]: inside(log, p) for p in driver.table("phases.csv")}
    assert sum(c["syncs"] for c in phases["close"]) == outside["close"]
    assert sum(c["syncs"] for c in log) == sum(wrapped.values()) + outside["close"]


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "wal", "memory", "off"])
def test_calls_are_as_formats_md_says(driver, mode):
    driver.populate()
    driver.run_ok("--vfs-log", mode=mode)
    assert list(driver.table("vfs.csv")[0]) == COLUMNS
    log = calls(driver)
    assert [call["call"] for call in log] == list(range(len(log)))
    assert {call["op"] for call in log} <= OPS
    times = [call[key] for call in log for key in ("begin_ns", "end_ns")]
    assert times == sorted(times)
    stats = {s["label"]: int(s["time_ns"]) for s in driver.table("device_stat.csv")}
    assert stats["begin"] <= times[0] and times[-1] <= stats["end"]
    assert {c["file"] for c in log} >= {"database"} | ({"wal", "shm"} if mode == "wal" else set())
    assert all((c["offset"] is not None) == (c["op"] in ("write", "truncate", "shm_map")) for c in log)
    assert all((c["bytes"] is None) == (c["op"] in ("close", "truncate")) for c in log)
    assert {c["result"] for c in log} == {0}
    # every file that is written was opened before, and is known by its inode
    opened = {c["inode"] for c in log if c["op"] == "open"}
    assert {c["inode"] for c in log if c["op"] in ("write", "sync", "close")} <= opened
    assert 0 not in opened
    database = {c["inode"] for c in log if c["file"] == "database"}
    assert database == {driver.database.stat().st_ino}
    ends = [c["offset"] + c["bytes"] for c in log if c["op"] == "write" and c["file"] == "database"]
    assert max(ends) <= driver.database.stat().st_size and min(ends) >= 4096


@pytest.mark.parametrize("page_size", [1024, 4096])
def test_the_log_says_which_page_each_frame_of_the_wal_holds(driver, page_size):
    """What a checkpoint writes to a page of the database is what its last frame has."""
    driver.populate(page_size=page_size)
    sizes = ["--page-size", page_size, "--wal-autocheckpoint", 5]
    driver.run_ok("--vfs-log", *sizes, mode="wal")
    log = calls(driver)
    frames, home = {}, 0
    for header, page in itertools.pairwise(log):
        is_header = header["file"] == "wal" and header["op"] == "write" and header["bytes"] == 24
        assert (header["page"] is not None) == is_header
        if is_header:
            assert (page["op"], page["bytes"], page["offset"]) == ("write", page_size, header["offset"] + 24)
            frames[header["page"]] = frames.get(header["page"], 0) + 1
        elif header["op"] == "write" and header["file"] == "database":
            assert header["offset"] % page_size == 0
            assert header["offset"] // page_size + 1 in frames
            home += 1
    assert home > 0
    assert max(frames) <= driver.database.stat().st_size // page_size


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_mapped_reads_pass_through(driver, mode):
    driver.populate()
    driver.run_ok("--vfs-log", "--mmap-size", 1 << 30, mode=mode)
    assert driver.config()["effective"]["mmap_size"] == 1 << 30
    mapped = driver.database.read_bytes()
    driver.populate()
    driver.run_ok(mode=mode)
    assert driver.database.read_bytes() == mapped


@pytest.mark.parametrize("mode", ["delete", "wal", "off"])
def test_errors_pass_unchanged(driver, mode):
    lines = []
    for option in ([], ["--vfs-log"]):
        driver.populate()
        limit = driver.database.stat().st_size + 8192
        done = driver.run(*option, mode=mode, n=100, preexec_fn=limit_file_size(limit))
        lines.append(one_line_error(done, 1))
    assert "phase insert, op insert: step failed: SQLite error" in lines[0]
    assert lines[0] == lines[1]
