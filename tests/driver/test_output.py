"""What a run writes, against docs/reference/formats.md."""

import platform
import sqlite3

from conftest import one_line_error

STAT = "  11  12  13  14  15  16  17  18  19  20  21  22  23  24  25  26  27\n"
STAT_FIELDS = [
    *("read_ios", "read_merges", "read_sectors", "read_ticks"),
    *("write_ios", "write_merges", "write_sectors", "write_ticks"),
    *("in_flight", "io_ticks", "time_in_queue"),
    *("discard_ios", "discard_merges", "discard_sectors", "discard_ticks", "flush_ios", "flush_ticks"),
]


def device(driver, stat=STAT, inflight="0 0\n"):
    folder = driver.folder / "device"
    folder.mkdir()
    (folder / "stat").write_text(stat)
    (folder / "inflight").write_text(inflight)
    return folder / "stat"


def test_files_are_as_formats_md_says(driver):
    driver.populate()
    driver.run_ok("--device-stat", device(driver), mode="wal", synchronous="normal")
    assert sorted(p.name for p in driver.output.iterdir()) == [
        *("config.json", "device_stat.csv", "phases.csv", "rendered", "transactions.csv")
    ]
    assert sorted(p.name for p in driver.folder.glob("sample.db*")) == ["sample.db"]

    transactions = driver.table("transactions.csv")
    assert " ".join(transactions[0]) == "transaction phase op begin_ns end_ns changes rows bytes"
    assert [int(t["transaction"]) for t in transactions] == list(range(60))
    assert [t["op"] for t in transactions] == ["insert"] * 20 + ["update"] * 20 + ["delete"] * 20
    assert [t["changes"] for t in transactions[:20]] == ["1"] * 20

    phases = driver.table("phases.csv")
    used = ["cpu_ns", "waited", "preempted"]
    assert list(phases[0]) == ["phase", "begin_ns", "end_ns", "transactions", *used]
    assert all(int(phase["cpu_ns"]) > 0 and int(phase["waited"]) >= 0 for phase in phases)
    names = ["warm", "insert", "update", "delete", "close", "drain"]
    assert [(p["phase"], p["transactions"]) for p in phases] == list(
        zip(names, ["0", "20", "20", "20", "0", "0"], strict=True)
    )
    times = [int(p[key]) for p in phases for key in ("begin_ns", "end_ns")]
    assert times == sorted(times)
    for phase in phases[1:4]:
        inside = [t for t in transactions if t["phase"] == phase["phase"]]
        times = [int(t[key]) for t in inside for key in ("begin_ns", "end_ns")]
        assert [int(phase["begin_ns"]), *times, int(phase["end_ns"])] == sorted(
            [int(phase["begin_ns"]), *times, int(phase["end_ns"])]
        )

    stats = driver.table("device_stat.csv")
    assert list(stats[0]) == [*("label", "time_ns", "inflight_reads", "inflight_writes", *STAT_FIELDS)]
    assert [s["label"] for s in stats] == [
        *("begin", "end-insert", "end-update", "end-delete", "end-close", "end")
    ]
    assert [stats[0][f] for f in STAT_FIELDS] == STAT.split()
    assert int(stats[0]["time_ns"]) <= int(phases[1]["begin_ns"])
    assert int(stats[-1]["time_ns"]) >= int(phases[-1]["end_ns"])


def test_config(driver):
    driver.populate(page_size=1024)
    driver.run_ok("--page-size", 1024, mode="truncate", synchronous="normal")
    config = driver.config()
    assert list(config) == [
        *("driver", "transactions", "operations", "engine", "sqlite", "requested", "effective", "pragmas"),
        *("sql_bytes", "rows_before", "rows_after", "file_sizes_before_close", "file_sizes"),
        *("memory", "clock", "status"),
    ]
    assert config["driver"] == {
        "workload": "apsys17",
        "rows": 50,
        "n": 20,
        "value_size": 3072,
        "request_distribution": "uniform",
        "insert_order": "ordered",
        "value_size_distribution": "constant",
        "batch": 1,
        "seed": 1,
        "database": str(driver.database),
        "checkpoint_every": -1,
        "pace_ns": 0,
        "cache": "warm",
    }
    assert config["transactions"] == config["operations"] == {"insert": 20, "update": 20, "delete": 20}
    memory = config["memory"]
    assert list(memory) == ["peak", "resident", "anonymous", "mapped", "shared"]
    parts = ("anonymous", "mapped", "shared")
    assert memory["peak"] >= memory["resident"] == sum(memory[name] for name in parts) > 0
    assert config["requested"] == {
        "journal_mode": "truncate",
        "synchronous": "normal",
        "page_size": 1024,
        "cache_size": -2000,
        "wal_autocheckpoint": 1000,
        "journal_size_limit": -1,
        "mmap_size": 0,
        "auto_vacuum": "none",
        "secure_delete": "off",
        "temp_store": "default",
        "locking_mode": "normal",
        "cache_spill": "on",
        "held_reader": "no",
        "writers": "1",
        "busy_timeout": 0,
        "checksums": "no",
    }
    assert config["effective"] == config["requested"]
    assert config["engine"] == "sqlite"
    assert config["sqlite"]["version"] == driver.binary.name.removeprefix("driver-")
    assert "THREADSAFE=1" in config["sqlite"]["compile_options"]
    assert not [o for o in config["sqlite"]["compile_options"] if "BATCH_ATOMIC" in o]
    assert config["pragmas"]["fullfsync"] == "0"
    assert not config["pragmas"].keys() & config["requested"].keys()
    assert config["sql_bytes"] == 2 * 20 * 3072
    assert config["status"] == "ok"
    # how long an instruction takes is timed where the loop is known to be of two
    timed = ["instruction_ps"] if platform.machine() == "aarch64" else []
    assert list(config["clock"]) == ["monotonic_ns", "realtime_ns", *timed]
    assert all(value > 0 for value in config["clock"].values())
    with sqlite3.connect(driver.database) as db:
        assert db.execute("SELECT count(*) FROM sample").fetchone() == (config["rows_after"],)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert config["file_sizes"]["database"] == driver.database.stat().st_size


def test_same_seed_same_sql(driver):
    texts = []
    for seed in (1, 1, 2):
        driver.populate()
        driver.run_ok("--seed", seed)
        texts.append(driver.rendered())
    assert texts[0] == texts[1] != texts[2]


def test_rendered_is_the_sql(newest):
    """One row, one transaction each: the only id to pick from is 0."""
    newest.populate(rows=0, value_size=3)
    newest.run_ok("--value-size", 3, rows=0, n=1)
    assert newest.rendered() == (
        b"INSERT INTO sample(value) VALUES('iii');\n"
        b"UPDATE sample SET value='uuu' WHERE id=0;\n"
        b"DELETE FROM sample WHERE id=0;\n"
    )


def test_empty_table_means_only_the_rows_just_inserted(driver):
    driver.populate(rows=0)
    driver.run_ok(rows=0)
    changes = {}
    for row in driver.table("transactions.csv"):
        changes[row["op"]] = changes.get(row["op"], 0) + int(row["changes"])
    assert changes["insert"] == 20
    assert 0 < changes["update"] <= 20 and 0 < changes["delete"] <= 20
    assert driver.config()["rows_after"] == 20 - changes["delete"]


def test_no_result_of_an_earlier_run_is_left(newest):
    """Also of another engine, or with another option: what is in the folder is one run's."""
    newest.populate()
    newest.output.mkdir()
    for name in ("moved.csv", "vfs.csv", "commits.csv", "persistent.csv", "config.json"):
        (newest.output / name).write_text("of an earlier run")
    newest.run_ok()
    assert {path.name for path in newest.output.iterdir()} == {
        *("config.json", "transactions.csv", "phases.csv", "device_stat.csv", "rendered")
    }


def test_null_workload(driver):
    driver.populate()
    before = driver.database.read_bytes()
    driver.run_ok("--workload", "null", n=1000)
    assert driver.database.read_bytes() == before
    assert {t["changes"] for t in driver.table("transactions.csv")} == {"0"}
    assert len(driver.table("transactions.csv")) == 3000
    config = driver.config()
    assert (config["sql_bytes"], config["rows_after"]) == (0, 50)
    assert driver.rendered() == b""


def test_announces_both_ends_of_the_timed_region(newest):
    newest.populate()
    console = newest.folder / "console"
    console.write_text("login:\n")
    newest.run_ok("--announce", console)
    assert console.read_text().splitlines() == [
        "login:",
        "driver: the timed region begins",
        "driver: the timed region ends",
    ]
    newest.populate()
    assert "nowhere/console: No such file" in one_line_error(
        newest.run("--announce", newest.folder / "nowhere/console"), 1
    )
