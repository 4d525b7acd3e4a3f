"""A recorded run of two writers with cuts (record-sample.sh): the trials know the transactions of both."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edited import Rows, edit_trial, replace, table

from analysis import checks, pipeline, stages
from analysis.crash import verdicts
from analysis.run import Run
from base.errors import FileError
from model.expected_state import oracle

PHASES = ["insert", "update", "delete"]


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """WAL with FULL, 40 cuts of 120 transactions, 60 of each writer."""
    return copy_run("sample-crash-writers")


def without(run: Run, acknowledged: int, gone: set[int]) -> str:
    """Return the hash of the acknowledged transactions without some of them."""
    content, transactions = oracle.changes(run.cell, PHASES, run.driver.writers)
    for number, transaction in zip(range(acknowledged), transactions, strict=False):
        content.apply(() if number in gone else transaction)
    return f"{content.total:016x}"


def trial(run: Run, last: int) -> dict[str, Any]:
    """Return a trial after which the last acknowledged transaction is of this writer."""
    assert run.judged is not None
    return next(
        row
        for row in run.judged.iter_rows(named=True)
        if row["acknowledged"] > 20 and run.driver.writers[row["acknowledged"] - 1] == last
    )


def commits(folder: Path, was: str, by: str) -> None:
    """Change the record of the run."""
    replace(folder / "raw/driver/commits.csv", was, by, 1)


def test_all_transactions_of_both_are_there(run_dir: Path) -> None:
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    crash = result["crash"]
    assert (crash["cuts"], crash["opened"], crash["broken"]) == (40, 40, 0)
    run = stages.build(run_dir)
    assert run.judged is not None and run.judged["acknowledged"].max() == 120
    assert run.judged["transactions"].max() == 120 and run.driver.transactions.height == 60
    # calls of two threads are not logged
    assert run.judged["zero"].null_count() == 40


@pytest.mark.parametrize("writer", [1, 2])
def test_a_lost_transaction_of_either_writer_breaks_the_promise(run_dir: Path, writer: int) -> None:
    run = stages.build(run_dir)
    row = trial(run, writer)
    acknowledged = row["acknowledged"]
    edit_trial(run_dir, row["trial"], hash=without(run, acknowledged, {acknowledged - 1}))
    crash = pipeline.analyse(run_dir)["crash"]
    assert (crash["broken"], crash["lost_acknowledged"]["max"]) == (1, 1)
    assert f"1 of {acknowledged} acknowledged transactions are gone" in crash["first_broken"]


def test_a_hole_between_the_writers_is_found(run_dir: Path) -> None:
    """A transaction of the second writer is gone, and a later one of the first is there."""
    run = stages.build(run_dir)
    row = trial(run, 1)
    gone = row["acknowledged"] - 2
    assert run.driver.writers[gone] == 2
    edit_trial(run_dir, row["trial"], hash=without(run, row["acknowledged"], {gone}))
    judged = stages.build(run_dir).judged
    assert judged is not None
    found = judged.row(row["trial"], named=True)
    assert (found["verdict"], found["hole_first"], found["hole_there"]) == (verdicts.HOLE, gone, gone + 1)


def test_a_board_with_another_order_did_not_repeat_the_run(run_dir: Path) -> None:
    def change(rows: Rows) -> None:
        first, second = (row for row in rows if row["transaction"] == 5)
        for name in first.keys() - {"writer"}:
            first[name], second[name] = second[name], first[name]

    table(run_dir / "crash/1/raw/driver/commits.csv", change)
    reasons = checks.reasons(stages.build(run_dir))
    assert "trial board 1 did not repeat the run: its writers had the lock in another order" in reasons


@pytest.mark.parametrize(
    ("was", "by", "says"),
    [
        ("\n1,0,", "\n3,0,", "writer is 3; expected 1 or 2"),
        ("\n2,1,", "\n2,7,", "transaction is 7; expected its place"),
    ],
)
def test_an_invalid_record(run_dir: Path, was: str, by: str, says: str) -> None:
    commits(run_dir, was, by)
    with pytest.raises(FileError) as told:
        stages.build(run_dir)
    assert says in str(told.value)


def test_the_end_has_the_acknowledgement_of_a_later_commit(run_dir: Path) -> None:
    """A writer may be preempted between its COMMIT and its record: the later commit includes it."""
    run = stages.build(run_dir)
    ends = run.driver.commits["end_ns"].to_list()
    rows = [line.split(",") for line in (run_dir / "raw/driver/commits.csv").read_text().splitlines()[1:]]
    late = next(row for row in rows if row[:2] == ["1", "5"])
    commits(run_dir, f",{late[3]}\n", f",{int(late[3]) + 10**9}\n")
    moved = stages.build(run_dir).driver.commits["end_ns"].to_list()
    assert moved == sorted(moved) and sum(a != b for a, b in zip(ends, moved, strict=True)) == 1


def test_the_cell_names_both_tables(run_dir: Path) -> None:
    run = stages.build(run_dir)
    assert json.loads((run_dir / "cell.json").read_text())["writers"] == "2"
    assert oracle.tables(run.cell) == ["sample", "second_writer"]
