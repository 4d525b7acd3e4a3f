"""Stores of keys and values in the driver: a populated database, runs on it, and their calls."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import polars as pl
from conftest import Driver, binary

from analysis.adapters import drivertables
from analysis.ledger.timeline import edges
from base.arrays import inside, ints

Found = TypeVar("Found")


def populated(engine: str, folder: Path, *more: object) -> Driver:
    driver = Driver(binary(f"engine-{engine}"), folder)
    done = driver("populate", "--database", driver.database, *more)
    assert (done.returncode, done.stderr) == (0, "")
    return driver


def run_store(driver: Driver, *more: object) -> None:
    done = driver("run", "--database", driver.database, "--output-dir", driver.output, *more)
    assert (done.returncode, done.stderr) == (0, "")


def calls_of(driver: Driver) -> pl.DataFrame:
    """The calls with the transaction of each, -1 for none."""
    vfs = drivertables.calls(driver.output / "vfs.csv")
    ran = drivertables.transactions(driver.output / "transactions.csv")
    return vfs.with_columns(transaction=inside(ints(vfs["begin_ns"]), *edges(ran)))


def of_two_runs(driver: Driver, run: Callable[[], Found]) -> Found:
    """What two runs on the same database both come to."""
    shutil.copytree(driver.database, driver.folder / "populated")
    first = run()
    shutil.rmtree(driver.database)
    shutil.copytree(driver.folder / "populated", driver.database)
    assert run() == first
    return first
