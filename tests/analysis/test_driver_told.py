"""What the driver tells of itself is held against the rest: its times, statements, settings; and FUA against
the filesystem. Each check is seen to fail on a recorded run with one thing changed."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from analysis import engines
from analysis import run as runs
from analysis.checks import edges, engine, fua, pace
from analysis.run import Run

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.name.removesuffix(".tar.xz") for path in SAMPLES.glob("*.tar.xz"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    found = {}
    for name in NAMES:
        folder = tmp_path_factory.mktemp("recorded") / name
        shutil.unpack_archive(SAMPLES / f"{name}.tar.xz", folder)
        found[name] = runs.read(folder / "run")
    return found


def options(run: Run) -> tuple[str, ...]:
    assert run.board.mount
    return run.board.mount.options


@pytest.mark.parametrize("name", NAMES)
def test_a_true_run_is_not_refuted(name: str, recorded: dict[str, Run]) -> None:
    run = recorded[name]
    assert run.ledger
    for check in (edges.readings, edges.filled, engine.as_set):
        assert check(run) == []
    assert fua.where(run.ledger, options(run)) == []


def with_table(run: Run, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Run:
    return dataclasses.replace(
        run, driver=dataclasses.replace(run.driver, **{name: change(getattr(run.driver, name))})
    )


def at(label: str, column: str, value: str | int, by: int) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Add to a column where another has a value."""
    return lambda table: table.with_columns(
        pl.when(pl.col(label) == value).then(pl.col(column) + by).otherwise(column).alias(column)
    )


READINGS = {
    "end-insert": (
        "device_stat",
        at("label", "time_ns", "end-insert", 10**6),
        "'end-insert' was not read at its",
    ),
    "end": ("device_stat", at("label", "time_ns", "end", -(10**9)), "'end' was not read at its place"),
    "begin": ("device_stat", at("label", "time_ns", "begin", 10**10), "'begin' was not read at its place"),
    "phase": ("phases", at("phase", "end_ns", "update", 10**6), "'end-update' was not read at its place"),
    "none": (
        "device_stat",
        lambda table: table.filter(pl.col("label") != "end-close"),
        "'end-close' was not read at its place",
    ),
    "unknown": (
        "device_stat",
        lambda table: table.with_columns(pl.col("label").replace("end-update", "end-scan")),
        "'end-scan' is of no phase",
    ),
}


@pytest.mark.parametrize("case", READINGS)
def test_a_reading_elsewhere_is_seen(case: str, recorded: dict[str, Run]) -> None:
    table, change, reason = READINGS[case]
    found = edges.readings(with_table(recorded["f2fs-wal"], table, change))
    assert any(reason in one for one in found), found


FILLED = {
    "shorter": (
        "transactions",
        at("transaction", "end_ns", 3, -(10**6)),
        "before transaction 4 of phase 'insert'",
    ),
    "later": (
        "transactions",
        at("transaction", "begin_ns", 5, 10**6),
        "before transaction 5 of phase 'insert'",
    ),
    "last": ("phases", at("phase", "end_ns", "delete", 10**6), "'delete' goes on after its last transaction"),
}


@pytest.mark.parametrize("case", FILLED)
def test_time_of_no_transaction_is_seen(case: str, recorded: dict[str, Run]) -> None:
    table, change, reason = FILLED[case]
    run = with_table(recorded["ext4-ordered-delete"], table, change)
    assert any(reason in one for one in edges.filled(run))
    real = dataclasses.replace(run, board=dataclasses.replace(run.board, run={"clock": "real"}))
    assert edges.filled(real) == []


@pytest.mark.parametrize(
    ("sample", "setting", "value", "reason"),
    [
        ("f2fs-wal", "synchronous", "normal", "normal, and transaction 0 synced its log 1 times, not 0"),
        ("f2fs-wal", "synchronous", "off", "synchronous is off, and a file was synced"),
        ("f2fs-wal", "journal_mode", "delete", "journal_mode is delete, and a wal was written"),
        ("f2fs-wal", "page_size", 8192, "page_size is 8192, and "),
        ("f2fs-delete", "synchronous", "normal", "transaction 0 synced its log 2 times, not 1"),
        ("f2fs-delete", "journal_mode", "wal", "journal_mode is wal, and a journal was written"),
        ("f2fs-delete", "journal_mode", "truncate", "truncate, and a journal ended otherwise"),
        ("ext4-journal-truncate", "journal_mode", "delete", "delete, and a journal ended otherwise"),
        ("ext4-journal-truncate", "journal_mode", "off", "journal_mode is off, and a journal was written"),
    ],
)  # fmt: skip
def test_calls_of_other_settings_are_seen(
    sample: str, setting: str, value: object, reason: str, recorded: dict[str, Run]
) -> None:
    run = recorded[sample]
    effective = {**run.driver.config["effective"], setting: value}
    config = {**run.driver.config, "effective": effective}
    run = dataclasses.replace(run, driver=dataclasses.replace(run.driver, config=config))
    assert any(reason in one for one in engine.as_set(run)), engine.as_set(run)


def test_a_level_that_syncs_less_is_seen(recorded: dict[str, Run]) -> None:
    """FULL is what a run of NORMAL is not: without the syncs of its WAL."""
    made = recorded["f2fs-wal"].ledger
    assert made
    settings = recorded["f2fs-wal"].driver.config["effective"]
    calls = made.vfs.filter((pl.col("op") != "sync") | (pl.col("transaction").is_null()))
    found = engines.of("sqlite").contradicted(settings, calls)
    assert any("synchronous is full, and transaction 0 synced its log 0 times, not 1" in one for one in found)


@pytest.mark.parametrize("name", NAMES)
def test_fua_elsewhere_is_seen(name: str, recorded: dict[str, Run]) -> None:
    made = recorded[name].ledger
    assert made
    rwbs = pl.col("rwbs").cast(pl.String)
    every = made.ledger.with_columns(rwbs.str.replace("^W([^F]|$)", "WF$1").alias("rwbs"))
    assert any(
        "pieces written with FUA" in one for one in fua.where(dataclasses.replace(made, ledger=every), ())
    )
    assert any("pieces written with FUA" in one for one in fua.where(made, ("nobarrier",)))


@pytest.mark.parametrize("name", ["f2fs-delete", "f2fs-wal"])
def test_a_checkpoint_without_fua_is_seen(name: str, recorded: dict[str, Run]) -> None:
    made = recorded[name].ledger
    assert made
    lost = made.ledger.with_columns(pl.col("rwbs").cast(pl.String).str.replace("^WF", "W"))
    found = fua.where(dataclasses.replace(made, ledger=lost), ())
    assert any("checkpoints without one write with FUA" in one for one in found)


def test_counters_read_later_are_seen(recorded: dict[str, Run]) -> None:
    run = with_table(recorded["f2fs-wal"], "phases", at("phase", "end_ns", "close", -(10**6)))
    assert any("'close' ended before the device's counters were read" in one for one in edges.filled(run))


def test_a_failed_sync_is_seen(recorded: dict[str, Run]) -> None:
    run = recorded["f2fs-wal"]
    made = run.ledger
    assert made and engine.synced(run) == []
    failed = dataclasses.replace(made, syncs=made.syncs.with_columns(result=pl.lit(-5)))
    assert (
        f"{made.syncs.height} syncs failed: first"
        in engine.synced(dataclasses.replace(run, ledger=failed))[0]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_of_another_pace_is_seen(name: str, recorded: dict[str, Run]) -> None:
    run = recorded[name]
    twin = run.twin
    assert twin and pace.alike(run) == []
    zero = twin.driver.phases["begin_ns"][0]

    def halved(table: pl.DataFrame) -> pl.DataFrame:
        return table.with_columns((pl.col(name) - zero) // 2 + zero for name in ("begin_ns", "end_ns"))

    slow = dataclasses.replace(
        twin.driver, phases=halved(twin.driver.phases), transactions=halved(twin.driver.transactions)
    )
    found = pace.alike(dataclasses.replace(run, twin=dataclasses.replace(twin, driver=slow)))
    assert any("the untraced twin's phase 'insert' took" in one for one in found)
    assert any("24 transactions of the untraced twin took another time" in one for one in found)
