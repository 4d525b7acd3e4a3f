"""A statement log on the board: what a watched run tells of it, and what comes up after a cut or a kill."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

CELL = {"ENGINE": "ssl", "DEVICE": "emmc-5.0", "ROWS": "1000", "CRASH": "power"}
SHORT = CELL | {"N": "10", "CUTS": "40", "DIRTY_PAGES": "20"}
LONG = CELL | {"N": "30", "CUTS": "150", "PROBES": "none"}
# recover.c of workloads/engines/ssl and ppl
TABLE = {
    *("clean", "log not begun or closed"),
    *("log reset; no merged pages", "log reset; merged pages live", "log reset; merged pages torn"),
    *("log used; no merged pages", "log used; merged pages live", "log used; merged pages torn"),
    "merged pages ahead of the log",
    *("log reset; WAL reset", "log reset; WAL live", "log reset; WAL torn"),
    *("log used; WAL reset", "log used; WAL live", "log used; WAL torn"),
    *("WAL ahead of the log", "WAL ahead of the log; copied"),
}
# the other log, whose sectors have room for a row
LOGS = {"ssl": {"ENGINE": "ssl"}, "ppl": {"ENGINE": "ppl", "SECTOR_SIZE": "4096"}}
# of the log's file, in front of the records
RECORDS = 1024


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    assert found["status"] == "ok", found["reasons"]
    return found


def crash(folder: Path) -> dict[str, Any]:
    """What its summary says of its cuts."""
    found: dict[str, Any] = summary(folder)["crash"]
    assert sum(found["recoveries"].values()) == found["opened"]
    assert set(found["recoveries"]) <= TABLE
    return found


def nothing_lost(found: dict[str, Any]) -> None:
    assert found["opened"] == found["cuts"] and found["promised"] == "every committed transaction survives"
    assert found["corrupt"] == found["not_a_prefix"] == found["broken"] == 0
    assert found["lost_acknowledged"]["max"] == 0


def table(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(folder / f"tables/{name}.parquet")


def test_a_short_cell_loses_nothing(run_cell: Callable[..., Path]) -> None:
    """Of each kind of moment some: between the statements of a log, and in its checkpoints."""
    folder = run_cell(**SHORT)
    found = crash(folder)
    nothing_lost(found)
    assert {"log used; WAL reset", "log reset; WAL reset"} <= set(found["recoveries"])
    trials = table(folder, "trials")
    assert trials["replayed"].sum() == found["replayed"] > 0
    assert (trials["engine_call"].drop_nulls() == "sync statements").any()


def test_a_log_that_no_commit_syncs_leaves_a_prefix(run_cell: Callable[..., Path]) -> None:
    """What is lost was acknowledged behind the last checkpoint."""
    folder = run_cell(**SHORT | {"SYNCHRONOUS": "normal", "N": "20", "PROBES": "none"})
    found = crash(folder)
    assert found["promised"].startswith("consistent, but the transactions since the last checkpoint may")
    assert found["opened"] == found["cuts"]
    assert found["corrupt"] == found["not_a_prefix"] == found["broken"] == 0
    # a checkpoint comes within 20 transactions
    assert 0 < found["lost_acknowledged"]["max"] < 20 and found["lost_acknowledged"]["cuts"] > 5


def test_checkpoints_by_atomic_writes_lose_nothing(run_cell: Callable[..., Path]) -> None:
    """Of the filesystem's own; no page is written twice."""
    folder = run_cell(
        **SHORT | {"FS": "f2fs", "CHECKPOINT_WRITE": "atomic", "N": "20", "CUTS": "60", "PROBES": "none"}
    )
    found = crash(folder)
    nothing_lost(found)
    # between the atomic write and the log's reset
    assert found["recoveries"]["WAL ahead of the log; copied"] > 0
    config = json.loads((folder / "raw/driver/config.json").read_text())
    assert config["effective"]["checkpoint_write"] == "atomic"
    did = config["properties"]
    assert did["WAL pages"] == "0" and int(did["checkpoints: dirty pages"]) > 2


def test_a_transaction_is_a_record_and_a_sync(run_cell: Callable[..., Path]) -> None:
    """What the ledger, the calls and the engine itself tell of the log and its checkpoints."""
    folder = run_cell(**SHORT)
    vfs, costs, pieces = (table(folder, name) for name in ("vfs", "costs", "pieces"))
    config = json.loads((folder / "raw/driver/config.json").read_text())
    did = {name: int(value) for name, value in config["properties"].items() if value.isdecimal()}
    log = vfs.filter(pl.col("file") == "statements")
    records = log.filter((pl.col("op") == "write") & (pl.col("offset") >= RECORDS))
    changed = config["transactions"]["insert"] * 3
    assert records.height == records["transaction"].n_unique() == did["logged transactions"] == changed
    assert records["bytes"].sum() == did["log bytes"]
    syncs = log.filter(pl.col("op") == "sync")
    checkpoints = did["checkpoints: dirty pages"] + did.get("checkpoints: requested", 0)
    # and one when the log was made, before the window
    assert syncs.height == changed + checkpoints == did["log syncs"] - 1
    without = costs.filter(~pl.col("transaction").is_in(_copied(vfs)))
    assert without.height > 15 and set(without["vfs_syncs"]) == set(without["syncs"]) == {1}
    # its record's blocks and nothing else; a block that two records share is written for each
    blocks = records.with_columns(
        blocks=(pl.col("offset") + pl.col("bytes") - 1) // 4096 - pl.col("offset") // 4096 + 1
    )
    expected = dict(blocks.select("transaction", pl.col("blocks") * 4096).iter_rows())
    for row in without.iter_rows(named=True):
        assert row["statement log"] == expected[row["transaction"]], row
    assert pieces.filter(pl.col("label") == "statement log")["bytes"].sum() >= sum(expected.values())


def test_a_checkpoint_is_caused_by_those_whose_pages_it_writes(run_cell: Callable[..., Path]) -> None:
    folder = run_cell(**SHORT)
    vfs, costs, deferred = (table(folder, name) for name in ("vfs", "costs", "deferred"))
    found = summary(folder)["ledger"]["deferred"]
    assert found["by_transactions"] > 0 and found["by"]["close"] > 0
    copied = _copied(vfs)
    assert len(copied) > 1
    assert set(deferred["made_by"].drop_nulls()) == set(copied)
    for before, number in itertools.pairwise([-1, *copied]):
        (cost,) = costs.filter(pl.col("transaction") == number).iter_rows(named=True)
        share = deferred.filter(pl.col("made_by") == number)
        written = cost["database page"] + cost["WAL"]
        assert share["bytes"].sum() == pytest.approx(cost["for_others"])
        assert 0.4 * written < cost["for_others"] <= written
        assert share["transaction"].is_between(before + 1, number - 1).all()
        assert share["transaction"].n_unique() > 2


def _copied(vfs: pl.DataFrame) -> list[int]:
    """The transactions that made a checkpoint."""
    is_home = (pl.col("file") == "database") & (pl.col("op") == "write")
    made = vfs.filter(is_home & pl.col("transaction").is_not_null())
    return sorted(made["transaction"].unique())


@pytest.mark.parametrize("fs", ["ext4-ordered", "f2fs"])
@pytest.mark.parametrize("more", [{}, {"DIRTY_PAGES": "20"}, {"DIRTY_PAGES": "20", "LOG_MEDIUM": "msync"}])
def test_an_honest_device_loses_nothing(run_cell: Callable[..., Path], fs: str, more: dict[str, str]) -> None:
    found = crash(run_cell(**LONG | more | {"FS": fs}))
    nothing_lost(found)
    # a checkpoint within the run is what leaves a WAL that is live, or torn, with a log that is used
    live = {"log used; WAL live", "log used; WAL torn", "log reset; WAL live", "WAL ahead of the log"}
    assert bool(more) <= bool(live & set(found["recoveries"]))


@pytest.mark.parametrize("engine", LOGS)
def test_a_device_that_ignores_a_flush_breaks_the_promise(run_cell: Callable[..., Path], engine: str) -> None:
    folder = run_cell(**LONG | LOGS[engine] | {"DIRTY_PAGES": "20", "DEVICE": "emmc-5.0-ignores-flush"})
    found = crash(folder)
    assert found["broken"] > 0
    assert found["lost_acknowledged"]["max"] > 0 or found["opened"] < found["cuts"]
    assert "Promise broken" in (folder / "report.html").read_text()


@pytest.mark.parametrize("engine", LOGS)
def test_where_the_kernel_alone_is_gone_a_lying_device_loses_nothing(
    run_cell: Callable[..., Path], engine: str
) -> None:
    more = {"DIRTY_PAGES": "20", "DEVICE": "emmc-5.0-ignores-flush", "CRASH": "os", "CUTS": "60"}
    nothing_lost(crash(run_cell(**LONG | LOGS[engine] | more)))


@pytest.mark.parametrize("medium", ["fdatasync", "msync"])
@pytest.mark.parametrize(
    ("engine", "ahead"), [("ssl", "WAL ahead of the log"), ("ppl", "merged pages ahead of the log")]
)
def test_a_killed_process_loses_nothing(
    run_cell: Callable[..., Path], engine: str, ahead: str, medium: str
) -> None:
    more = {"CRASH": "process", "N": "5", "CUTS": "60", "DIRTY_PAGES": "8", "LOG_MEDIUM": medium}
    folder = run_cell(**LONG | LOGS[engine] | more)
    nothing_lost(crash(folder))
    trials = table(folder, "trials")
    assert not trials["engine_call"].drop_nulls().str.starts_with("keep").any()
    assert ahead in set(trials["recovery"])
