"""What is left of a run whose process is killed, on a board. Every setting and moment of a short one is tried
on the host (tests/driver/test_killed_driver.py)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.__main__ import main as analyse
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment

CELL = {"ROWS": "1000", "N": "5", "PROBES": "none", "CRASH": "process", "CUTS": "30"}


def killed(folder: Path) -> dict[str, Any]:
    """What its summary says of its kills."""
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "ok", summary["reasons"]
    found: dict[str, Any] = summary["crash"]
    assert found["failure"] == "process"
    return found


def test_a_short_cell(run_cell: Callable[..., Path]) -> None:
    """On a device that keeps no past, and of each kind of moment some."""
    folder = run_cell(**CELL)
    found = killed(folder)
    assert (found["cuts"], found["opened"]) == (30, 30)
    assert found["corrupt"] == found["not_a_prefix"] == found["broken"] == 0
    assert found["lost_acknowledged"]["max"] == 0
    trials = pl.read_parquet(folder / "tables/trials.parquet")
    assert set(trials["where"]) == {"after", "during", "acknowledged"}
    assert trials["acknowledged"].n_unique() > 5 and trials["command"].null_count() == 30


@pytest.mark.parametrize(("mode", "sync"), [("delete", "off"), ("wal", "off"), ("wal", "normal")])
def test_a_journal_on_the_disk_loses_nothing_to_a_killed_process(
    run_cell: Callable[..., Path], mode: str, sync: str
) -> None:
    """Whether it is synced or not: what the kernel has outlives the process."""
    found = killed(run_cell(**CELL | {"MODE": mode, "SYNC": sync}))
    assert found["opened"] == found["cuts"] and found["corrupt"] == found["not_a_prefix"] == 0
    assert found["lost_acknowledged"]["max"] == found["broken"] == 0
    assert found["promised"] == "every committed transaction survives"


@pytest.mark.parametrize("mode", ["memory", "off"])
def test_without_a_journal_on_the_disk_a_database_is_broken(run_cell: Callable[..., Path], mode: str) -> None:
    found = killed(run_cell(**CELL | {"MODE": mode}))
    assert found["corrupt"] + found["not_a_prefix"] + found["cuts"] - found["opened"] > 0
    assert found["broken"] == 0, "nothing was promised"


def test_few_moments_are_all_tried_once(run_cell: Callable[..., Path]) -> None:
    """And of more there are as many as asked for."""
    folder = run_cell(**CELL | {"MODE": "off", "N": "1", "CUTS": "1000"})
    found = killed(folder)
    assert 10 < found["cuts"] < 100
    trials = pl.read_parquet(folder / "tables/trials.parquet")
    assert trials.select("where", "call", "cut_ns").n_unique() == found["cuts"]


def test_the_same_kill_has_the_same_outcome(
    run_cell: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the byte, with what it took on the board's clock."""
    first = run_cell(**CELL)
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    second = experiment.run_once(make_cell(CELL))
    for board in first.glob("crash/*"):
        of_second = second / "crash" / board.name / "raw/trials.csv"
        assert of_second.read_bytes() == (board / "raw/trials.csv").read_bytes()


def test_a_watched_run_has_kills(run_cell: Callable[..., Path]) -> None:
    """By the calls of its baseline run."""
    folder = run_cell(**{name: value for name, value in CELL.items() if name != "PROBES"} | {"CUTS": "10"})
    assert killed(folder)["opened"] == 10
    analyse([str(folder), "--quiet"])
