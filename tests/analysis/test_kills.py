"""Which moments a process is killed at, by the calls that its engine made."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from some_cell import some_cell

from analysis.adapters.drivertables import CALLS
from model.cell import Cell
from model.crash_points import kill_points

# op, file, offset, bytes; each begins 10 ns after the one before and takes 4
DELETE_MODE = [
    ("open", "database", None, 0),
    ("open", "journal", None, 1),
    ("write", "journal", 0, 512),
    ("write", "journal", 516, 4096),
    ("shm_map", "shm", 0, 32768),
    ("sync", "journal", None, 2),
    ("write", "database", 8192, 4096),
    ("truncate", "journal", 0, None),
    ("close", "journal", None, None),
    ("delete", "journal", None, 0),
    ("close", "database", None, None),
]


def a_run(*calls: tuple[str, str, int | None, int | None], transactions: int = 1) -> Any:
    """A run of those calls, whose transactions are acknowledged at 98, 99, ... ns."""
    rows = [
        {"call": n, "op": op, "file": file, "begin_ns": 10 * n, "end_ns": 10 * n + 4, "inode": 1}
        | {"offset": offset, "bytes": size}
        for n, (op, file, offset, size) in enumerate(calls)
    ]
    ran = pl.DataFrame(
        {
            "transaction": range(transactions),
            "begin_ns": range(50, 50 + transactions),
            "end_ns": range(98, 98 + transactions),
        }
    )
    return SimpleNamespace(vfs=pl.DataFrame(rows, schema=CALLS), transactions=ran)


def cell(cuts: int = 100, seed: int = 1) -> Cell:
    return some_cell(cuts=cuts, cut_seed=seed)


def test_each_call_that_changes_a_file_and_each_acknowledgement_once() -> None:
    found = kill_points.plan(cell(), a_run(*DELETE_MODE))
    assert [one.line() for one in found] == [
        "0 call 0 -1 0\n",
        "1 call 1 -1 1\n",
        "2 call 2 0 512\n",
        "3 call 3 516 4096 3580\n",
        "4 call 3 516 4096\n",
        "5 call 5 -1 2\n",
        "6 call 6 8192 4096\n",
        "7 call 7 0 -1\n",
        "8 call 9 -1 0\n",
        "9 acknowledged 0\n",
        "10 call 10 -1 -1\n",
    ]
    assert [one.moment for one in found] == sorted(one.moment for one in found)
    # as workloads/trials/kill.c has it of the first line
    assert found[0].digest == "932c0a556c4d11e1"


@pytest.mark.parametrize(
    ("offset", "size", "after"),
    [(0, 4096, []), (100, 24, []), (4000, 96, []), (4000, 97, [96]), (56, 16384, [4040, 8136, 12232, 16328])],
)
def test_a_write_ends_between_pages(offset: int, size: int, after: list[int]) -> None:
    calls = (DELETE_MODE[0], ("write", "wal", offset, size), DELETE_MODE[-1])
    every = [kill_points.plan(cell(seed=seed), a_run(*calls)) for seed in range(40)]
    kept = {one.kept for plan in every for one in plan if one.where == kill_points.DURING}
    assert kept == set(after)


def test_cuts_bound_them_and_the_seed_draws() -> None:
    ran = a_run(*DELETE_MODE, transactions=5)
    few = [kill_points.plan(cell(cuts=7, seed=seed), ran) for seed in range(20)]
    assert {len(plan) for plan in few} == {7}
    assert all((plan[0].call, plan[-1].call) == (0, 10) for plan in few)
    assert all([one.number for one in plan] == list(range(7)) for plan in few)
    assert kill_points.plan(cell(cuts=7, seed=3), ran) == few[3]
    assert len({tuple(one.line() for one in plan) for plan in few}) > 10
    # all of them are among all that there are
    every = {one.line().split(" ", 1)[1] for one in kill_points.plan(cell(), ran)}
    drawn = {one.line().split(" ", 1)[1] for plan in few for one in plan}
    assert drawn <= every


def test_without_a_log_of_calls_there_are_the_transactions() -> None:
    ran = a_run(transactions=4)
    ran.vfs = None
    found = kill_points.plan(cell(), ran)
    lines = ["0 begun 0\n", *(f"{number + 1} acknowledged {number}\n" for number in range(4))]
    assert [one.line() for one in found] == lines
    assert [one.moment for one in found] == [49, 98, 99, 100, 101]
    few = kill_points.plan(cell(cuts=3), ran)
    assert [one.line() for one in (few[0], few[-1])] == ["0 begun 0\n", "2 acknowledged 3\n"] and len(
        few
    ) == 3
    ran.transactions = ran.transactions.clear()
    assert kill_points.plan(cell(), ran) == []
