"""A recorded run of a trace with power cuts (record-sample.sh): verdicts, losses, what rejects the run."""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import edited
import pytest
from edited import edit_trial
from some_cell import some_cell

from analysis import checks, pipeline, stages
from analysis.crash import verdicts
from model.expected_state import hashes, oracle

# of its trials: two of one state, one that is as after the seventh transaction, one whose files the host has
ALIKE, OF_SEVEN, SAMPLED = (27, 28), 16, 10


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """DELETE with FULL, 40 cuts of 11 transactions of samples/crash.trace."""
    return copy_run("sample-crash-trace")


def states(folder: Path) -> list[hashes.Held]:
    cell = json.loads((folder / "cell.json").read_text())
    made = some_cell(**cell)
    return list(oracle.after(made, ["sql"], range(made.n + 1)).values())


def test_the_recorded_run_holds(run_dir: Path) -> None:
    """Each database is whole or without its last transaction, as SQLite says of DELETE without EXTRA."""
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    crash = result["crash"]
    assert (crash["cuts"], crash["opened"], crash["corrupt"], crash["not_a_prefix"]) == (40, 40, 0, 0)
    assert (crash["lost_acknowledged"]["cuts"], crash["lost_acknowledged"]["max"]) == (11, 1)
    assert crash["broken"] == 0
    judged = stages.build(run_dir).judged
    assert judged is not None
    assert set(judged["verdict"]) == {verdicts.LOST, verdicts.WHOLE}
    # the read is no loss: the update before it is
    row = judged.row(6, named=True)
    assert (row["acknowledged"], row["transactions"], row["lost"], row["first_lost"]) == (2, 0, 1, 0)


def as_after(trial: int, number: int) -> Callable[[Path], None]:
    """A trial found what there is after so many transactions."""

    def spoil(folder: Path) -> None:
        rows, total = states(folder)[number]
        edit_trial(folder, trial, rows=rows, hash=f"{total:016x}")

    return spoil


@pytest.mark.parametrize(("number", "lost"), [(6, 1), (3, 2), (0, 4)])
def test_what_was_acknowledged_and_is_gone_is_counted(run_dir: Path, number: int, lost: int) -> None:
    """Of trial 16, with seven transactions begun and six acknowledged: without those that changed nothing."""
    edit_trial(run_dir, OF_SEVEN, rows=(held := states(run_dir)[number]).rows, hash=f"{held.hash:016x}")
    judged = stages.build(run_dir).judged
    assert judged is not None
    row = judged.row(OF_SEVEN, named=True)
    assert (row["acknowledged"], row["begun"]) == (6, 7)
    assert (row["lost"], row["verdict"]) == (lost - 1, verdicts.LOST if lost > 1 else verdicts.WHOLE)
    assert pipeline.analyse(run_dir)["crash"]["broken"] == (lost - 1 > 1)


def other_text(folder: Path) -> None:
    """The cell has another trace than the one that was run."""
    for name in ("cell.json", "raw/plan.json"):
        edited.replace(folder / name, "user_version=7", "user_version=8")


def other_files(folder: Path) -> None:
    """Board and host agree on what is not in the files: those of a database of nothing but a table."""
    made = folder.parent / "other.db"
    with sqlite3.connect(made) as database:
        database.execute("CREATE TABLE t(a)")
    database.close()
    place = folder / f"crash/1/raw/files/{SAMPLED}"
    shutil.rmtree(place)
    place.mkdir()
    (place / "sample.db.gz").write_bytes(gzip.compress(made.read_bytes()))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        # a hash of another number of transactions
        (as_after(ALIKE[0], 7), f"trials {ALIKE[0]} and {ALIKE[1]} had the same state, but other"),
        (as_after(0, 1), "run's begin, must hold 0 transactions intact, but has: whole, 1"),
        (other_files, "; its files have 3 rows, hash "),
        (other_text, "rendered.gz differs from the transactions of the cell's file"),
    ],
)
def test_what_cannot_be_so_rejects_the_run(run_dir: Path, spoil: Callable[[Path], None], reason: str) -> None:
    spoil(run_dir)
    reasons = checks.reasons(stages.build(run_dir))
    assert any(reason in one for one in reasons), reasons
