"""RocksDB in the driver: runs repeat, file calls fit the settings, and moved rows belong to their writers."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Driver
from store_runs import assert_writes_are_the_files, calls_of, of_two_runs, orders, populated, run_store

from analysis.adapters import drivertables
from model import engines, workloads
from model.workloads import Options

ROWS, N = 100, 100
PHASES = ["insert", "update", "delete"]
SMALL = ("--write-buffer-size", 65536)
ROCKSDB = engines.by_name("rocksdb")


@pytest.fixture
def rocksdb(tmp_path: Path) -> Driver:
    return populated("rocksdb", tmp_path, "--rows", ROWS, *SMALL)


def run(driver: Driver, *more: object, sync: str = "off") -> None:
    run_store(driver, "--rows", ROWS, "--n", N, "--sync", sync, *SMALL, *more)


def moved(driver: Driver, vfs: pl.DataFrame) -> pl.DataFrame:
    """moved.csv with the transaction whose data each row has, null from before the run."""
    table = drivertables.moved(driver.output / "moved.csv", vfs.height)
    return table.join(vfs.select(source="call", owner="transaction"), on="source", how="left")


def test_two_runs_are_equal(rocksdb: Driver) -> None:
    """Calls and their data's owners. Files have times and identities in them."""

    def made() -> tuple[list[Any], list[Any]]:
        run(rocksdb, "--vfs-log", "--checkpoint-every", 100)
        vfs = calls_of(rocksdb)
        calls = vfs.filter(pl.col("file") != "info").select("op", "file", "offset", "bytes", "transaction")
        return calls.rows(), moved(rocksdb, vfs).select("owner", "bytes").rows()

    calls, _ = of_two_runs(rocksdb, made)
    assert Counter(op for op, file, *_ in calls if file == "table")["open"] > 10


@pytest.mark.parametrize(
    ("sync", "more"), [("off", ()), ("full", ()), ("off", ("--disable-wal", "on"))], ids=str
)
def test_calls_are_those_of_the_settings(rocksdb: Driver, sync: str, more: tuple[str, ...]) -> None:
    run(rocksdb, "--vfs-log", "--checkpoint-every", 90, *more, sync=sync)
    vfs, config = calls_of(rocksdb), rocksdb.config()
    assert ROCKSDB.logs_calls(config)
    assert orders(rocksdb, vfs) == []
    assert orders(rocksdb, vfs, sync={"off": "full", "full": "off"}[sync])
    assert orders(rocksdb, vfs, disable_wal="off" if more else "on")
    syncs = vfs.filter(pl.col("op") == "sync")
    assert (syncs.filter(pl.col("file") == "log").height > 0) == (sync == "full")
    # of each table
    assert (
        syncs.filter(pl.col("file") == "directory").height >= syncs.filter(pl.col("file") == "table").height
    )


def test_writes_are_the_files(rocksdb: Driver) -> None:
    run(rocksdb, "--vfs-log")
    assert_writes_are_the_files(rocksdb, "*.sst")


@pytest.mark.parametrize(
    "more", [(), ("--bloom-bits", 10), ("--disable-wal", "on")], ids=["log", "filters", "no log"]
)
def test_rows_belong_to_their_last_writes(rocksdb: Driver, more: tuple[object, ...]) -> None:
    """A compaction of everything takes the numbers of all rows away. In its tables each row is of the last
    transaction that wrote its key, or from before."""
    run(rocksdb, "--vfs-log", "--checkpoint-every", len(PHASES) * N, *more)
    vfs = calls_of(rocksdb)
    table = moved(rocksdb, vfs).join(vfs.select("call", "inode", "file"), on="call")
    assert set(table["file"]) == {"table"}
    # all rows of all tables; the rest of a table is its index and properties
    written = vfs.filter((pl.col("op") == "write") & (pl.col("file") == "table"))
    assert 0.9 < int(table["bytes"].sum()) / int(written["bytes"].sum()) < 1
    assert set(vfs["file"].gather(table["source"].drop_nulls())) == {"log"}
    left = {path.stat().st_ino for path in rocksdb.database.glob("*.sst")}
    last: dict[int, int | None] = dict.fromkeys(range(1, ROWS + 1))
    workload = workloads.by_name("apsys17")
    assert workload
    made = workloads.transactions(workload, Options(ROWS, N, 3072, 1), PHASES)
    for number, operations in enumerate(made):
        for kind, key, *_ in operations:
            last.pop(key, None)
            if kind != "delete":
                last[key] = number
    wanted = Counter(last.values())
    # an inode's number may have been another table's before
    opened = vfs.filter((pl.col("op") == "open") & pl.col("inode").is_in(left))
    final = table.join(opened.group_by("inode").agg(opened=pl.col("call").max()), on="inode")
    final = final.filter(pl.col("call") > pl.col("opened"))
    found = dict(final.group_by("owner").agg(pl.col("bytes").sum()).rows())
    assert found.keys() == wanted.keys() and len(wanted) > N / 2
    for owner, count in wanted.items():
        assert 3072 * count < found[owner] < 3120 * count


def test_the_info_log_is_opened_alone(rocksdb: Driver) -> None:
    """It is written and closed by stdio: the close of a later file with its descriptor is not its own."""
    run(rocksdb, "--vfs-log")
    assert set(calls_of(rocksdb).filter(pl.col("file") == "info")["op"]) == {"open"}
