"""LMDB in the driver: the log of its calls, which the linker passes through key_values/files.c."""

import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from conftest import Driver, binary

from analysis.adapters import drivertables
from analysis.audit import call_order
from analysis.ledger.timeline import edges
from base.arrays import inside, ints
from model import engines

ROWS, N, PAGE = 50, 20, 4096
LMDB = engines.by_name("lmdb")


@pytest.fixture
def lmdb(tmp_path: Path) -> Driver:
    driver = Driver(binary("engine-lmdb"), tmp_path)
    done = driver("populate", "--database", driver.database, "--rows", ROWS)
    assert (done.returncode, done.stderr) == (0, "")
    return driver


def run(driver: Driver, *more: object) -> pl.DataFrame:
    """Run the workload; return the calls with the transaction of each, -1 for none."""
    where = ["--database", driver.database, "--output-dir", driver.output]
    done = driver("run", *where, "--rows", ROWS, "--n", N, "--vfs-log", *more)
    assert (done.returncode, done.stderr) == (0, "")
    vfs = drivertables.calls(driver.output / "vfs.csv")
    ran = drivertables.transactions(driver.output / "transactions.csv")
    return vfs.with_columns(transaction=inside(ints(vfs["begin_ns"]), *edges(ran)))


@pytest.mark.parametrize(
    "settings",
    ["", "nosync", "nometasync", "writemap", "writemap nometasync", "writemap nosync", "writemap mapasync"],
)
def test_calls_are_those_of_the_settings(lmdb: Driver, settings: str) -> None:
    on = settings.split()
    vfs = run(lmdb, *(word for name in on for word in (f"--{name}", "on")), "--checkpoint-every", 7)
    config = lmdb.config()
    ran: Any = SimpleNamespace(engine=LMDB, config=config)
    given: Any = SimpleNamespace(driver=ran)
    table = vfs.filter(pl.col("transaction") >= 0)
    assert call_order._orders(given, table) == []
    for name, other in (("nosync", {"on": "off", "off": "on"}), ("writemap", {"on": "off", "off": "on"})):
        changed = {**config["effective"], name: other[config["effective"][name]]}
        ran.config = {**config, "effective": changed}
        if not table.is_empty():
            assert call_order._orders(given, table), name
    assert LMDB.stores(config["effective"]) == ("writemap" in on)
    between = vfs.filter((pl.col("transaction") < 0) & pl.col("op").is_in(["sync", "msync"]))
    # each seventh of 60 transactions
    assert between.height == 8


@pytest.mark.parametrize("writemap", ["off", "on"])
def test_changed_pages_were_written(lmdb: Driver, writemap: str) -> None:
    """No page of the file changes without a call; those of a map all do."""
    before = (lmdb.database / "data.mdb").read_bytes()
    vfs = run(lmdb, "--writemap", writemap)
    after = (lmdb.database / "data.mdb").read_bytes()
    places = range(0, min(len(before), len(after)), PAGE)
    changed = {at // PAGE for at in places if before[at : at + PAGE] != after[at : at + PAGE]}
    writes = vfs.filter(pl.col("op") == "write").select("offset", "bytes").rows()
    written = {page for at, size in writes for page in range(at // PAGE, -(-(at + size) // PAGE))}
    assert len(changed) > N
    assert not written if writemap == "on" else changed <= written


def test_two_runs_are_equal(lmdb: Driver) -> None:
    found = []
    shutil.copytree(lmdb.database, lmdb.folder / "populated")
    for _ in range(2):
        shutil.rmtree(lmdb.database)
        shutil.copytree(lmdb.folder / "populated", lmdb.database)
        calls = run(lmdb).select("op", "file", "offset", "bytes", "transaction").rows()
        found.append((calls, (lmdb.database / "data.mdb").read_bytes()))
    assert found[0] == found[1]
    synced = Counter(owner for op, *_, owner in found[0][0] if op == "sync")
    assert set(synced.values()) == {1} and len(synced) > 2 * N


def test_parts_of_sectors_are_recorded(lmdb: Driver) -> None:
    """A meta page is written in part: the rest of its sector is from before (written.h)."""
    run(lmdb, "--written", lmdb.folder / "written")
    assert (lmdb.folder / "written").stat().st_size > (lmdb.database / "data.mdb").stat().st_size // 512 * 16
