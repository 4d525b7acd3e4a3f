"""A recorded run whose process is killed (record-sample.sh): what its trials come to; its faults."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edited import edit_trial, lose_a_trial

from analysis import checks, pipeline, stages
from analysis.report import terminal
from model import cell as cells
from model.expected_state import oracle


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """WAL with FULL, 30 kills of 15 transactions."""
    return copy_run("sample-kills")


def states(folder: Path) -> list[tuple[int, int]]:
    cell = cells.from_document(json.loads((folder / "cell.json").read_text()))
    return oracle.after_each(cell, ["insert", "update", "delete"])


def test_the_recorded_run_holds(run_dir: Path) -> None:
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    crash = result["crash"]
    assert (crash["failure"], crash["cuts"], crash["mounted"], crash["opened"]) == ("process", 30, 30, 30)
    assert (crash["corrupt"], crash["not_a_prefix"], crash["broken"]) == (0, 0, 0)
    assert crash["lost_acknowledged"] == {"cuts": 0, "max": 0, "mean": 0.0}
    assert crash["promised"] == "every committed transaction survives"
    text = terminal.table(result, run_dir / "report.html")
    assert "30 cuts (process): 30 mounted, 30 opened, 0 corrupt" in text and terminal.BROKEN not in text


def test_a_transaction_that_is_gone_breaks_the_promise(run_dir: Path) -> None:
    """The last of those acknowledged, of the insertions, each of which changes something."""
    judged = stages.build(run_dir).judged
    assert judged is not None
    row = next(one for one in judged.iter_rows(named=True) if one["acknowledged"] == 3)
    rows, total = states(run_dir)[2]
    edit_trial(run_dir, row["trial"], rows=rows, hash=f"{total:016x}")
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok" and result["crash"]["broken"] == 1
    said = result["crash"]["first_broken"]
    assert re.match(rf"trial {row['trial']}, killed .*: 1 of 3 acknowledged transactions are gone", said)
    assert terminal.BROKEN in terminal.table(result, run_dir / "report.html")


def other_calls(folder: Path) -> None:
    """The run that was timed had another call in the place of one that a board met."""
    path = folder / "raw/driver/vfs.csv"
    path.write_text(re.sub(r"(,wal,\d+,\d+,\d+,\d+),24,", r"\1,32,", path.read_text()))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lose_a_trial, "1 of 30 trials were not run, first trial 29"),
        (other_calls, "showed another state than the cell's plan"),
    ],
)
def test_a_fault_rejects_the_run(run_dir: Path, spoil: Callable[[Path], Any], reason: str) -> None:
    spoil(run_dir)
    reasons = checks.reasons(stages.build(run_dir))
    assert any(reason in one for one in reasons), reasons
