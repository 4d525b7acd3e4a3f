"""Stores of keys and values in the driver: a populated database, runs on it, and their calls."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import polars as pl
from conftest import Driver, binary, ok

from analysis.adapters import drivertables
from analysis.audit import call_order
from analysis.ledger.timeline import edges
from base.arrays import inside, ints
from model import engines

Found = TypeVar("Found")


def populated(engine: str, folder: Path, *more: object) -> Driver:
    driver = Driver(binary(f"engine-{engine}"), folder)
    ok(driver("populate", "--database", driver.database, *more))
    return driver


def run_store(driver: Driver, *more: object) -> None:
    ok(driver("run", "--database", driver.database, "--output-dir", driver.output, *more))


def calls_of(driver: Driver) -> pl.DataFrame:
    """The calls with the transaction of each, -1 for none."""
    vfs = drivertables.calls(driver.output / "vfs.csv")
    ran = drivertables.transactions(driver.output / "transactions.csv")
    return vfs.with_columns(transaction=inside(ints(vfs["begin_ns"]), *edges(ran)))


def orders(driver: Driver, vfs: pl.DataFrame, part: str = "effective", **others: str) -> list[str]:
    """The faults of the order of a run's calls in its transactions, where its settings were others."""
    config = driver.config()
    config[part] |= others
    ran: Any = SimpleNamespace(engine=engines.by_name(config["engine"]), config=config)
    given: Any = SimpleNamespace(driver=ran)
    return call_order._orders(given, vfs.filter(pl.col("transaction") >= 0))


def assert_writes_are_the_files(driver: Driver, tables: str) -> None:
    """The logged writes of a file have no gap, and end where the file ends: no thread made others."""
    life = (pl.col("op") == "open").cast(pl.Int64).cum_sum().over("inode")
    vfs = calls_of(driver).with_columns(life=life)
    # the newest may be the last log's, from when the driver opened the database once more
    sizes = {path.stat().st_ino: path.stat().st_size for path in sorted(driver.database.glob(tables))[:-1]}
    writes = vfs.filter((pl.col("op") == "write") & pl.col("file").is_in(["log", "table", "manifest"]))
    ended = dict[object, int]()
    for (inode, _), rows in writes.group_by("inode", "life", maintain_order=True):
        ends = (rows["offset"] + rows["bytes"]).to_list()
        assert rows["offset"].to_list()[1:] == ends[:-1]
        if rows["file"][0] == "table":
            assert rows["offset"][0] == 0
            ended[inode] = ends[-1]
    same = [ended[inode] == size for inode, size in sizes.items() if inode in ended]
    assert same and all(same)


def of_two_runs(driver: Driver, run: Callable[[], Found]) -> Found:
    """What two runs on the same database both come to."""
    shutil.copytree(driver.database, driver.folder / "populated")
    first = run()
    shutil.rmtree(driver.database)
    shutil.copytree(driver.folder / "populated", driver.database)
    assert run() == first
    return first
