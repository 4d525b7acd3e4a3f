"""LMDB in the driver: the log of its calls, which the linker passes through key_values/files.c."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Driver
from store_runs import calls_of, of_two_runs, orders, populated, run_store

from model import engines

ROWS, N, PAGE = 50, 20, 4096
LMDB = engines.by_name("lmdb")


@pytest.fixture
def lmdb(tmp_path: Path) -> Driver:
    return populated("lmdb", tmp_path, "--rows", ROWS)


def run(driver: Driver, *more: object) -> pl.DataFrame:
    """Run the workload; return the calls."""
    run_store(driver, "--rows", ROWS, "--n", N, "--vfs-log", *more)
    return calls_of(driver)


@pytest.mark.parametrize(
    "settings",
    ["", "nosync", "nometasync", "writemap", "writemap nometasync", "writemap nosync", "writemap mapasync"],
)
def test_calls_are_those_of_the_settings(lmdb: Driver, settings: str) -> None:
    on = settings.split()
    vfs = run(lmdb, *(word for name in on for word in (f"--{name}", "on")), "--checkpoint-every", 7)
    config = lmdb.config()
    assert orders(lmdb, vfs) == []
    for name in ("nosync", "writemap"):
        if (vfs["transaction"] >= 0).any():
            assert orders(lmdb, vfs, **{name: {"on": "off", "off": "on"}[config["effective"][name]]}), name
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
    def made() -> tuple[list[Any], bytes]:
        calls = run(lmdb).select("op", "file", "offset", "bytes", "transaction").rows()
        return calls, (lmdb.database / "data.mdb").read_bytes()

    calls, _ = of_two_runs(lmdb, made)
    synced = Counter(owner for op, *_, owner in calls if op == "sync")
    assert set(synced.values()) == {1} and len(synced) > 2 * N


def test_another_file_has_no_role(lmdb: Driver) -> None:
    (lmdb.database / "other").write_bytes(bytes(1 << 20))
    run(lmdb)
    files = {LMDB.role(path.name, []): path.stat().st_size for path in lmdb.database.iterdir()}
    assert lmdb.config()["file_sizes"] == {name: files[name] for name in ("data", "lock")}
    assert files[None] == 1 << 20


def test_parts_of_sectors_are_recorded(lmdb: Driver) -> None:
    """A meta page is written in part: the rest of its sector is from before (written.h)."""
    run(lmdb, "--written", lmdb.folder / "written")
    assert (lmdb.folder / "written").stat().st_size > (lmdb.database / "data.mdb").stat().st_size // 512 * 16
