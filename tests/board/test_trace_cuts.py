"""A trace whose run is cut on the board: what comes up is as after what was acknowledged, in each engine with
SQL, and on a device that ignores a FLUSH it is not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from test_statement_cuts import nothing_lost, summary, table

from base.paths import ROOT

FILE = ROOT / "tests/analysis/samples/crash.trace"
TRACE = {"WORKLOAD": "trace", "FILE": str(FILE), "ROWS": "0", "N": "11", "PROBES": "none"}
POWER = TRACE | {"DEVICE": "emmc-5.0", "CRASH": "power", "CUTS": "60"}
WAL = {"JOURNAL_MODE": "wal", "SYNCHRONOUS": "full"}
PAGES = {"ENGINE": "ppl", "SECTOR_SIZE": "4096"}


@pytest.mark.parametrize("engine", [WAL, {"ENGINE": "ssl"}, PAGES], ids=["wal", "ssl", "ppl"])
@pytest.mark.parametrize("crash", ["power", "process"])
def test_nothing_is_lost(run_cell: Callable[..., Path], engine: dict[str, str], crash: str) -> None:
    folder = run_cell(**POWER | engine | {"CRASH": crash})
    nothing_lost(summary(folder)["crash"])
    trials = table(folder, "trials")
    assert trials["hash"].n_unique() > 5 and trials["transactions"].max() == 11


def test_a_device_that_ignores_a_flush_is_found_out(run_cell: Callable[..., Path]) -> None:
    found = summary(run_cell(**POWER | WAL | {"DEVICE": "emmc-5.0-ignores-flush"}))["crash"]
    assert found["broken"] > 0 and found["lost_acknowledged"]["max"] > 1


def test_a_rollback_journal_may_lose_the_last(run_cell: Callable[..., Path]) -> None:
    found = summary(run_cell(**POWER | {"JOURNAL_MODE": "delete", "SYNCHRONOUS": "full"}))["crash"]
    assert (found["lost_acknowledged"]["max"], found["broken"]) == (1, 0)


def test_a_random_load_loses_nothing(run_cell: Callable[..., Path]) -> None:
    """60 000 rows, each of which is known."""
    random = {"WORKLOAD": "random-a", "ROWS": "60000", "N": "20", "CUTS": "20", "PROBES": "none"}
    random |= {"DEVICE": "emmc-5.0", "CRASH": "power"}
    nothing_lost(summary(run_cell(**random | WAL))["crash"])
