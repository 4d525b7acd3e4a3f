"""A recorded run on a device with faults (record-sample.sh): what came of each, and its imitated errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edited import edit_trial

from analysis import pipeline
from analysis.crash.kills import DAMAGED, HEALED, NOTICED, SILENT, outcome
from analysis.report import terminal


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """DELETE with EXTRA, 15 transactions, and four faults."""
    return copy_run("sample-faults")


def outcomes(result: dict[str, Any]) -> list[str]:
    return [fault["outcome"] for fault in result["crash"]["faults"].values()]


def test_the_recorded_run_holds(run_dir: Path) -> None:
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    assert outcomes(result) == [HEALED, NOTICED, DAMAGED, SILENT]
    text = terminal.table(result, run_dir / "report.html")
    assert "4 faults of the device" in text and terminal.BROKEN not in text
    assert SILENT in (run_dir / "report.html").read_text()


@pytest.mark.parametrize("broken", [False, True])
def test_a_fault_that_ends_its_board_is_not_healed(broken: bool) -> None:
    """Without a promise nothing is broken; the board's results are missing all the same."""
    row = dict.fromkeys(("failed", "exit_status", "mount_error", "is_whole"))
    assert outcome(row, broken) == DAMAGED


@pytest.mark.parametrize(
    ("trial", "change", "expected"),
    [
        (0, {"failed": 1}, NOTICED),
        (0, {"exit_status": 1}, NOTICED),
        (0, {"hash": "0" * 16}, SILENT),
        (0, {"is_whole": 0}, DAMAGED),
        (0, {"mount_error": 5, "opened": 0, "is_read": 0, "is_whole": 0}, DAMAGED),
        (3, {"failed": 1}, DAMAGED),
    ],
)
def test_the_outcome_follows_from_the_record(
    run_dir: Path, trial: int, change: dict[str, Any], expected: str
) -> None:
    edit_trial(run_dir, trial, **change)
    assert outcomes(pipeline.analyse(run_dir))[trial] == expected


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"fired": 0}, "did not fire: its board sent"),
        ({"sector": 8}, "fired at sector 8, and the run's command is at sector"),
        ({"plan": "0" * 16}, "trial 1 showed another state than the cell's plan"),
    ],
)
def test_another_fault_rejects_the_run(run_dir: Path, change: dict[str, Any], reason: str) -> None:
    edit_trial(run_dir, 1, **change)
    result = pipeline.analyse(run_dir)
    assert result["status"] == "rejected" and any(reason in each for each in result["reasons"])
