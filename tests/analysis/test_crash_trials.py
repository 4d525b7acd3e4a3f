"""Records of trial boards that no cut or kill can leave reject a run: recorded runs, spoiled."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edited import Rows, edit_trial, recoveries, replace, table

from analysis import checks, stages
from analysis.checks import crash_trials, trial_boards
from analysis.run import Run
from base.paths import ROOT
from model import engines

# DELETE with FULL, 40 cuts of 15 transactions; WAL with FULL, 30 kills of 15 transactions
POWER, KILLED = "sample-crash", "sample-kills"
TRANSACTIONS = "crash/1/raw/driver/transactions.csv"
# of the former, which are of one state
ALIKE = (18, 19)
CHECKS = (trial_boards.boards, trial_boards.repeat_run, crash_trials.outcomes)
TIMES = "trial {} did not repeat the run: its transactions were at other commands"


def reasons(folder: Path, spoil: Callable[[Path], Any]) -> list[str]:
    spoil(folder)
    run = stages.build(folder)
    return [reason for check in CHECKS for reason in check(run)]


def edges(folder: Path, column: str, other: str, later_ns: int) -> None:
    """Each transaction of a board begins or ends so long after it ended or began."""

    def change(rows: Rows) -> None:
        for row in rows:
            row[column] = row[other] + later_ns

    table(folder / TRANSACTIONS, change)


def acknowledged(folder: Path) -> None:
    """Each transaction of a board is acknowledged once its last command has come, before that is done."""
    run = stages.build(folder)
    (board,) = (one for one in run.trials if one.name == "1")
    came = board.log.entries["begin_ns"].astype(int).tolist()

    def change(rows: Rows) -> None:
        for row in rows:
            within = [at for at in came if row["begin_ns"] < at < row["end_ns"]]
            row["end_ns"] = within[-1] + 1 if within else row["end_ns"]

    table(folder / TRANSACTIONS, change)


def replaced(name: str, was: str, by: str) -> Callable[[Path], None]:
    return lambda folder: replace(folder / "crash/1/raw" / name, was, by)


def trial(number: int, **values: Any) -> Callable[[Path], None]:
    return lambda folder: edit_trial(folder, number, **values)


def test_a_board_is_compared_with_the_run_once(
    built_run: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr(trial_boards, "_difference", lambda _, board: compared.append(board.name))
    run = built_run(POWER)
    assert checks.reasons(run) == [] and sorted(compared) == sorted(board.name for board in run.trials) != []


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (replaced("board/kernel.txt", "6.12.", "6.13."), "trial board 1's kernel differs from the run's"),
        (
            replaced("board/device.txt", "cache_kib=512", "cache_kib=0"),
            "trial board 1's device settings differ",
        ),
        (replaced("run-cell.status", "0", "1"), "trial board 1: run-cell ended with status '1'"),
        (replaced("run.json", '"trials", ', '"rest", '), "trial board 1: the steps were watch, set-timing,"),
        (replaced("run.json", '"observers": []', '"observers": ["x"]'), "trial board 1 was observed"),
        # acknowledged before anything of it was written
        (lambda folder: edges(folder, "end_ns", "begin_ns", 1), TIMES.format("board 1")),
        (acknowledged, TIMES.format("board 1")),
        (
            lambda folder: recoveries(folder, ("clean", 0), ("log used; WAL reset", 16)),
            "trial 1 re-executed 16 transactions, but 1 had begun",
        ),
        (
            lambda folder: recoveries(folder, *[("clean", 0)] * 19, ("log used; WAL reset", 0)),
            f"trials {ALIKE[0]} and {ALIKE[1]} had the same state",
        ),
    ],
)
def test_what_a_cut_cannot_have_come_to(
    copy_run: Callable[[str], Path], spoil: Callable[[Path], None], reason: str
) -> None:
    found = reasons(copy_run(POWER), spoil)
    assert any(one.startswith(reason) for one in found), found


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            trial(20, acknowledged=0),
            "trial 20 had begun 14 and acknowledged 0 transactions; at that point the run had 14 and 13",
        ),
        (replaced("run.json", '"kills", ', '"rest", '), "trial board 1: the steps were watch, settle, rest"),
    ],
)
def test_what_a_kill_cannot_have_come_to(
    copy_run: Callable[[str], Path], spoil: Callable[[Path], None], reason: str
) -> None:
    found = reasons(copy_run(KILLED), spoil)
    assert any(one.startswith(reason) for one in found), found


@pytest.mark.parametrize("engine", ["ssl", "ppl"])
def test_each_word_of_a_recovery_is_known(engine: str) -> None:
    source = (ROOT / "workloads/engines" / engine / "recover.c").read_text()
    words = set(re.findall(r'^\t\[SSL_[A-Z_]+\] = "([^"]+)",$', source, re.MULTILINE))
    assert len(words) == 10 and words == set(engines.by_name(engine).RECOVERIES)
