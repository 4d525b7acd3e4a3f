"""Above a run's numbers: limits, rate of operations, slowest transaction; how many checkpoints ran."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

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
    assert (
        ", of a checkpoint: flush "
        in headline.of_slowest({**summary, "slowest": {**slow, "checkpoint": True}})[0]
    )


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
    ("sample", "number", "in_transactions"), [("sample-checkpoints", 5, 5), ("sample-databases", 36, 0)]
)
def test_checkpoints_are_counted_within_and_between_transactions(
    sample: str, number: int, in_transactions: int, built_run: Callable[[str], Run]
) -> None:
    """CHECKPOINT_EVERY=7 of three databases: 12 times between transactions. That of the close is left out."""
    made = built_run(sample).ledger
    assert made is not None
    assert headline.checkpoints(made, "wal") == number
    assert headline.checkpoints(made, "delete") is None
    slow = headline.slowest(made, "wal")
    assert slow is not None and slow["checkpoint"] is (in_transactions > 0)


def test_a_checkpoint_that_syncs_nothing_is_one(built_run: Callable[[str], Run]) -> None:
    """synchronous=off; without a log of calls it is unknown whether there were any."""
    made = built_run("sample-checkpoints").ledger
    assert made is not None
    unlogged = replace(made, given=replace(made.given, calls=False))
    assert headline.checkpoints(unlogged, "wal") == 5
    unsynced = {"syncs": made.syncs.filter(pl.col("file").cast(pl.String) != "database")}
    assert headline.checkpoints(replace(made, **unsynced), "wal") == 5
    assert headline.checkpoints(replace(unlogged, **unsynced), "wal") is None
    slow = headline.slowest(replace(unlogged, **unsynced), "wal")
    assert slow is not None and "checkpoint" not in slow
