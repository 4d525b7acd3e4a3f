"""Workloads mobibench, androbench and rlbench run the tools' transactions; --phases runs only some phases."""

import sqlite3

import pytest
from conftest import ok, one_line_error
from test_syncs import ORACLE
from test_vfs_log import calls, inside, with_syncs

SIZES = {"mobibench": 100, "androbench": 88, "rlbench": 100}
GROUPS = {
    **{"insert": 1000, "insert_transaction": 1, "insert_indexed": 1, "select_scan": 1},
    **{"select_string": 1, "create_index": 2, "select_index": 5000, "update_scan": 1},
    **{"update_index": 1, "insert_select": 1, "delete_scan": 1, "delete_index": 1, "drop_table": 3},
}


def tool(driver, name, *more, rows=0, n=20, **keywords):
    """Populate for a tool and run it; returns the completed process."""
    options = ["--workload", name, "--value-size", SIZES[name]]
    driver.populate(*options[:2], rows=rows, value_size=SIZES[name])
    return driver.run(*options, *more, rows=rows, n=n, **keywords)


def tool_ok(driver, name, *more, **keywords):
    ok(tool(driver, name, *more, **keywords))


def changes(driver):
    """{op: [changes of each transaction]}"""
    found = {}
    for row in driver.table("transactions.csv"):
        found.setdefault(row["op"], []).append(int(row["changes"]))
    return found


def lines(texts):
    return "".join(text + "\n" for text in texts).encode()


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("mode", ["truncate", "wal"])
def test_tool_runs_and_is_what_was_planned(driver, name, mode):
    tool_ok(driver, name, mode=mode)
    planned = driver.config()["transactions"]
    ran = {p["phase"]: int(p["transactions"]) for p in driver.table("phases.csv")}
    assert {phase: ran[phase] for phase in planned} == planned
    assert list(ran) == ["warm", *planned, "close", "drain"]
    with sqlite3.connect(driver.database) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_androbench_fits_what_its_trace_says(driver):
    """215 bytes of SQL a transaction, 37 distinct pages, (7700 - 21 * 21.5) / 3077 pages a transaction."""
    tool_ok(driver, "androbench", "--vfs-log", n=1024, mode="wal", synchronous="off")
    texts = []
    for row in range(1, 1025):
        values = "".join(f",'{row:05}{'i' * (c % 2)}'" for c in range(16))
        names = "".join(f",field_{c}" for c in range(16))
        texts.append(f"INSERT INTO benchmark(id{names}) VALUES({row}{values});")
    for row in range(1, 1025):
        sets = ",".join(f"field_{c}='{row:05}{'u' * (c % 2)}'" for c in range(16))
        texts.append(f"UPDATE benchmark SET {sets} WHERE id={row};")
    texts += [f"DELETE FROM benchmark WHERE id={row};" for row in range(1, 1025)]
    assert driver.rendered() == lines(texts)
    assert sum(map(len, texts)) / len(texts) == pytest.approx(215, abs=1)
    assert changes(driver) == {op: [1] * 1024 for op in ("insert", "update", "delete")}
    log = calls(driver)
    pages = {c["offset"] for c in log if c["op"] == "write" and c["file"] == "database"}
    assert len(pages) == 37
    begin = int(driver.table("transactions.csv")[0]["begin_ns"])
    end = int(driver.table("transactions.csv")[-1]["end_ns"])
    written = [c for c in log if c["file"] == "wal" and c["op"] == "write" and c["bytes"] == 4096]
    frames = [c for c in written if begin <= c["begin_ns"] < end]
    assert len(frames) / 3072 == pytest.approx((7700 - 21 * 21.5) / 3077, abs=0.1)


def test_rlbench_groups(driver):
    tool_ok(driver, "rlbench", n=1000, mode="memory", synchronous="off")
    config = driver.config()
    assert config["transactions"] == GROUPS
    assert config["rows_after"] == 0
    found = changes(driver)
    assert {op: len(each) for op, each in found.items()} == GROUPS
    assert found["insert"] == [1] * 1000
    assert found["insert_transaction"] == found["insert_indexed"] == [25_000]
    assert found["update_scan"] == [1000] and found["update_index"] == [25_000]
    assert found["insert_select"] == [25_000 + 26_000]
    assert 0 < found["delete_scan"][0] < found["delete_index"][0] < 51_000
    silent = ("select_scan", "select_string", "select_index", "create_index", "drop_table")
    assert {sum(found[op]) for op in silent} == {0}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(("mode", "level"), [("delete", "full"), ("truncate", "normal"), ("wal", "full")])
def test_syncs_of_inserts_are_the_oracles(driver, name, mode, level):
    tool_ok(driver, name, "--phases", "insert", "--vfs-log", mode=mode, synchronous=level)
    log = with_syncs(calls(driver))
    each = [sum(c["syncs"] for c in inside(log, t)) for t in driver.table("transactions.csv")]
    assert each[1:] == [ORACLE[mode][level]] * 19


def test_phases(driver):
    driver.populate()
    driver.run_ok("--phases", "update")
    assert list(driver.config()["transactions"]) == ["update"]
    assert {t["op"] for t in driver.table("transactions.csv")} == {"update"}
    assert driver.config()["rows_after"] == 50
    assert [p["phase"] for p in driver.table("phases.csv")] == ["warm", "update", "close", "drain"]
    labels = [s["label"] for s in driver.table("device_stat.csv")]
    assert labels == ["begin", "end-update", "end-close", "end"]
    driver.populate()
    driver.run_ok("--phases", "insert,delete")
    assert driver.config()["transactions"] == {"insert": 20, "delete": 20}


def test_a_phase_alone_is_that_phase(newest):
    """Updates alone pick the rows that they pick after inserts, from as many ids."""
    newest.populate(rows=0)
    newest.run_ok("--phases", "insert", rows=0)
    newest.run_ok("--phases", "update", rows=20)
    alone = newest.rendered()
    newest.populate(rows=20)
    newest.run_ok("--phases", "update", rows=20)
    assert newest.rendered() == alone


def test_mobibench_updates_rows_that_were_there(driver):
    """The tool fills its table up to n rows before it updates or deletes."""
    for phase in ("update", "delete"):
        tool_ok(driver, "mobibench", "--phases", phase, rows=20)
    tool_ok(driver, "mobibench", "--phases", "update", rows=20)
    assert changes(driver) == {"update": [1] * 20}


@pytest.mark.parametrize(
    ("name", "more", "rows", "expected"),
    [
        ("mobibench", [], 5, "--rows: a run of mobibench that begins with insert has 0 rows before, not 5"),
        (
            "rlbench",
            ["--phases", "select_scan"],
            0,
            "--phases: select_scan of rlbench needs what insert_indexed",
        ),
        ("mobibench", ["--phases", "select"], 0, "--phases: mobibench has no phase 'select'"),
        ("mobibench", ["--phases", "update,insert"], 0, "--phases: insert comes before update in mobibench"),
    ],
)
def test_what_a_workload_cannot_do(newest, name, more, rows, expected):
    options = ["--workload", name, "--value-size", SIZES[name]]
    assert expected in one_line_error(newest.run(*options, *more, rows=rows), 2)
    assert not newest.output.exists()
