"""The calls of each transaction are those that a journal mode demands (model/engines/sqlite.py).

The directory is synced with a journal's deletion by EXTRA, and by nothing else.
"""

import dataclasses
from types import SimpleNamespace

import polars as pl
import pytest
from test_vfs_log import calls, inside

from analysis.adapters import drivertables
from analysis.adapters.driver import Driver
from analysis.audit import call_order
from analysis.run_files import databases
from model.engines import sqlite

LEVELS = ("off", "normal", "full", "extra")
# (populate, run): one row a transaction; ten, with a cache that they do not fit in; with checkpoints
LOADS = {
    "one row": ((), ()),
    "a small cache": (("--workload", "kv"), ("--workload", "kv", "--cache-size", 10)),
    "checkpoints": ((), ("--wal-autocheckpoint", 20, "--journal-size-limit", 8192)),
    "exclusive": ((), ("--locking-mode", "exclusive", "--wal-autocheckpoint", 20)),
    "vacuum": (("--auto-vacuum", "full"), ("--auto-vacuum", "full", "--secure-delete", "on")),
    "exclusive vacuum": (
        ("--auto-vacuum", "full"),
        ("--auto-vacuum", "full", "--locking-mode", "exclusive", "--mmap-size", 1 << 20),
    ),
    "held reader": ((), ("--held-reader", "yes", "--wal-autocheckpoint", 20)),
    "no spill": (
        ("--workload", "kv"),
        ("--workload", "kv", "--cache-size", 10, "--cache-spill", "off", "--temp-store", "memory"),
    ),
}


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "memory", "off", "wal"])
def test_each_transaction_is_in_order(driver, mode, load):
    populated, more = LOADS[load]
    if load == "held reader" and mode != "wal":
        pytest.skip("a reader keeps the driver from writing")
    for level in LEVELS:
        if level == "extra" and driver.binary.name.endswith("3.8.11.1"):
            continue
        driver.populate(*populated)
        driver.run_ok("--vfs-log", *more, n=10, mode=mode, synchronous=level)
        settings = driver.config()["effective"]
        assert settings == driver.config()["requested"]
        assert sqlite.contradicted(settings, _of_transactions(driver)) == [], level
        allowed = sqlite.order(settings)
        log = [call for call in calls(driver) if call["file"] not in sqlite.UNORDERED]
        deleted = [int(call["bytes"]) for call in log if call["op"] == "delete" and call["file"] == "journal"]
        assert set(deleted) <= {int(level == "extra")}, level
        texts = {
            "".join(sqlite.CALLS.get(f"{call['file']}.{call['op']}", "?") for call in inside(log, row))
            for row in driver.table("transactions.csv")
        }
        assert all(allowed.fullmatch(text) for text in texts), (level, texts)
        assert any(texts), level


def ran(driver):
    """What the analysis reads of a driver's calls and transactions."""
    transactions, phases = (pl.read_csv(driver.output / f"{name}.csv") for name in ("transactions", "phases"))
    config = driver.config()
    called = drivertables.calls(driver.output / "vfs.csv", databases.count(config))
    return Driver(config, transactions, phases, pl.DataFrame(), called, None)


def faults(run, **changes):
    return " ".join(call_order.calls(SimpleNamespace(driver=dataclasses.replace(run, **changes))))


def faults_of_each(run, every):
    """The faults of a run where a checkpoint was to follow each so many transactions."""
    given = run.config["driver"] | {"checkpoint_every": every}
    return faults(run, config=run.config | {"driver": given})


@pytest.mark.parametrize("level", LEVELS[:3])
@pytest.mark.parametrize("mode", ["wal", "delete", "persist", "memory"])
def test_an_explicit_checkpoint_is_behind_each_nth_transaction(driver, mode, level):
    driver.populate()
    driver.run_ok("--vfs-log", "--checkpoint-every", 3, mode=mode, synchronous=level)
    run = ran(driver)
    assert faults(run) == ""
    if mode != "wal":
        return
    for every, expected in (
        (-1, "in no transaction"),
        (2, "in no transaction"),
        (1, "no checkpoint follows"),
    ):
        assert expected in faults_of_each(run, every)
    begin, end = run.transactions["end_ns"][5], run.transactions["begin_ns"][6]
    there = (run.vfs["begin_ns"] >= begin) & (run.vfs["begin_ns"] < end)
    assert there.sum() > 2
    assert "no checkpoint follows transaction 5" in faults(run, vfs=run.vfs.filter(~there))
    is_home = pl.col("file").cast(pl.String) == "database"
    moved = pl.when(pl.lit(there) & is_home).then(pl.lit("wal")).otherwise(pl.col("file").cast(pl.String))
    assert "calls after transaction 5 are not a checkpoint's" in faults(
        run, vfs=run.vfs.with_columns(file=moved)
    )


def _of_transactions(driver):
    """The calls with the transaction that each is in, as the ledger has them."""
    log = [call | {"transaction": None} for call in calls(driver)]
    for number, row in enumerate(driver.table("transactions.csv")):
        inner = {call["call"] for call in inside(log, row)}
        log = [call | {"transaction": number} if call["call"] in inner else call for call in log]
    return pl.DataFrame(log, infer_schema_length=None)


def test_a_held_reader_lets_the_log_grow(newest):
    sizes, more = {}, ("--wal-autocheckpoint", 20)
    for held in ("no", "yes"):
        newest.populate()
        newest.run_ok("--vfs-log", *more, "--held-reader", held, n=40, mode="wal")
        config = newest.config()
        assert config["effective"]["held_reader"] == held
        sizes[held] = config["file_sizes_before_close"]["wal"]
        # the checkpoint of the close is whole
        assert config["file_sizes"]["wal"] == 0
        # without the reader a checkpoint would have been due
        assert (
            sqlite.contradicted({**config["effective"], "held_reader": held}, _of_transactions(newest)) == []
        )
        other = {**config["effective"], "held_reader": "no" if held == "yes" else "yes"}
        assert sqlite.contradicted(other, _of_transactions(newest))
    frame = 24 + 4096
    assert sizes["no"] < 40 * frame < 120 * frame < sizes["yes"]
