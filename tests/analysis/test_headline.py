"""Above a run's numbers: limits, rate of operations, slowest transaction; how many checkpoints ran."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.ledger import wal_checkpoints
from analysis.report import headline, terminal
from analysis.run import Run


@pytest.fixture
def summary() -> dict[str, Any]:
    """The summary of a recorded run."""
    read: dict[str, Any] = json.loads((Path(__file__).parent / "golden/summary.json").read_text())
    return read


def test_the_slowest_transaction_and_its_times(summary: dict[str, Any]) -> None:
    slow = summary["slowest"]
    assert sum(slow["times_us"].values()) == pytest.approx(slow["latency_us"])
    (line,) = headline.of_slowest(summary)
    assert (
        line.startswith(f"slowest, watched: {slow['op']}, ") and f"TRANSACTION={slow['transaction']} " in line
    )
    known = {"frames": 1003, "pages": 57, "trigger": "autocheckpoint"}
    for more, words in (
        ({}, ", with a WAL checkpoint: flush "),
        (
            {"wal_checkpoint": known},
            ", with a WAL checkpoint of 1,003 frames, 57 pages copied (autocheckpoint): flush ",
        ),
    ):
        ran = {**slow, "checkpoint": True, **more}
        assert words in headline.of_slowest({**summary, "slowest": ran})[0]


def test_rates_that_the_cpu_model_decides_or_that_leave_the_checkpoint_out(summary: dict[str, Any]) -> None:
    assert headline.limits({**summary, "cpu_share": {"all": 0.5}, "checkpoints": 1}) == []
    assert headline.limits({**summary, "cpu_share": None, "checkpoints": 1}) == []
    decided, without = headline.limits({**summary, "cpu_share": {"all": 0.62}, "checkpoints": 0})
    assert decided.startswith("the emulated CPU has 62% of a transaction's time")
    assert decided.endswith("rates are the CPU model's; use counts and ratios")
    assert without.startswith("no transaction ran a checkpoint")
    # above the rates
    printed = terminal.table({**summary, "cpu_share": {"all": 0.62, "insert": 0.62}}, Path("report.html"))
    assert 0 < printed.index("the emulated CPU has 62%") < printed.index(" TPS  p50 ms")


def test_the_latencies_of_syncs_by_file_are_printed(summary: dict[str, Any]) -> None:
    times = summary["sync_us"]
    printed = terminal.table(summary, Path("report.html"))
    assert "all                             299    6.258    6.352  296.119\ndatabase  " in printed
    # all files are one
    assert terminal.syncs({"all": times["wal"], "wal": times["wal"]}) == [
        "",
        "fsync and fdatasync, watched  syncs  p50 ms  p99 ms  max ms",
        "wal                             297   6.258   6.350   6.364",
    ]
    assert terminal.syncs(None) == []


def test_transactions_of_several_operations_have_the_operations_rate(summary: dict[str, Any]) -> None:
    assert headline.operations(summary) == []
    block = {**summary["block"], "bytes_written": 1024 * 10 * 4}
    several = {
        **summary,
        "operations_per_transaction": {"all": 4},
        "tps": {"all": 5},
        "virtual_seconds": 2,
        "block": block,
    }
    (line,) = headline.operations(several)
    assert line == "4 operations per transaction: 20.0 operations per second, 1.00 KiB written for each"


@pytest.mark.parametrize(
    ("sample", "number", "by"),
    [
        (
            "sample-checkpoints",
            5,
            {
                "autocheckpoint": {"count": 5, "frames": 52, "pages": 114},
                "close": {"count": 1, "frames": 25, "pages": 12},
            },
        ),
        (
            "sample-databases",
            36,
            {
                "CHECKPOINT_EVERY": {"count": 36, "frames": 8, "pages": 127},
                "close": {"count": 3, "frames": 5, "pages": 12},
            },
        ),
    ],
)
def test_checkpoints_are_counted_within_and_between_transactions(
    sample: str, number: int, by: dict[str, Any], built_run: Callable[[str], Run]
) -> None:
    """CHECKPOINT_EVERY=7 of three databases: 12 times between transactions. Those of the close are apart."""
    run = built_run(sample)
    found = headline.checkpoints(run)
    assert headline.counts(run, found) == {"checkpoints": number, "wal_checkpoints": by}
    slow = headline.slowest(run, found)
    assert slow is not None and slow["checkpoint"] is ("autocheckpoint" in by)
    other = replace(run, cell=replace(run.cell, journal_mode="delete"))
    assert headline.counts(other, headline.checkpoints(other)) == {}


def test_a_checkpoint_has_the_frames_that_start_it(built_run: Callable[[str], Run]) -> None:
    """wal_autocheckpoint=50 (main.c: a commit that leaves so many starts one)."""
    run = built_run("sample-checkpoints")
    found = headline.checkpoints(run)
    assert found is not None and run.ledger is not None
    started = found.filter(pl.col("trigger") == "autocheckpoint")
    assert started["frames"].to_list() == [52, 52, 50, 50, 50]
    writes = run.ledger.vfs.filter((pl.col("file") == "database") & (pl.col("op") == "write"))
    assert found["pages"].sum() == writes.height
    # each begins with the sync of the log and ends with that of the database
    of_call = wal_checkpoints.rows_of(found, run.ledger.vfs)
    calls = run.ledger.vfs.with_columns(row=of_call).filter(pl.col("row").is_not_null())
    edges = calls.group_by("row").agg(*(pl.concat_str("file", "op").get(at).alias(str(at)) for at in (0, -1)))
    assert edges.select("0", "-1").unique().rows() == [("walsync", "databasesync")]


def test_checkpoints_are_named_with_frames_and_trigger(summary: dict[str, Any]) -> None:
    assert headline.of_checkpoints(summary) == [
        "WAL checkpoints: 1 by close (of 996 frames, 349 pages copied)"
    ]
    row = {"count": 2, "frames": 52, "pages": 1114}
    assert headline.of_checkpoints({"wal_checkpoints": {"autocheckpoint": row}}) == [
        "WAL checkpoints: 2 by autocheckpoint (of at most 52 frames, 1,114 pages copied)"
    ]
    assert headline.of_checkpoints({}) == []


def test_a_checkpoint_that_syncs_nothing_is_one(built_run: Callable[[str], Run]) -> None:
    """synchronous=off; without a log of calls it is unknown whether there were any."""
    run = built_run("sample-checkpoints")
    made = run.ledger
    assert made is not None

    def of(**parts: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
        other = replace(run, ledger=replace(made, **parts))
        found = headline.checkpoints(other)
        return headline.counts(other, found), headline.slowest(other, found)

    unlogged = {"given": replace(made.given, calls=False)}
    unsynced = {"syncs": made.syncs.filter(pl.col("file").cast(pl.String) != "database")}
    counted, slow = of(**unlogged)
    assert counted == {"checkpoints": 5}
    assert slow is not None and slow["checkpoint"] and "wal_checkpoint" not in slow
    assert of(**unsynced)[0]["checkpoints"] == 5
    counted, slow = of(**unlogged, **unsynced)
    assert counted == {} and slow is not None and "checkpoint" not in slow
