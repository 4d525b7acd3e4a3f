"""Holes in recovered databases: each that is made is found, and a lost suffix is none."""

from pathlib import Path

import polars as pl
import pytest
from some_cell import some_cell

from analysis.crash import prefixes
from analysis.crash.prefixes import Hole
from commitpath.cells.from_variables import make_cell
from model.cell import Cell
from model.expected_state import oracle

KV = ["insert", "update", "read", "batch", "delete"]


def cell(engine: str = "leveldb", n: int = 8) -> Cell:
    profiles = {"workload": {"driver_workload": "kv"}}
    return some_cell(engine=engine, rows=40, n=n, value_size=16, seed=3, profiles=profiles)


def with_hole(made: Cell, hole: Hole) -> int:
    """The hash of what is there without the transactions of a hole."""
    content, transactions = oracle.changes(made, KV)
    for number, transaction in enumerate(transactions):
        if number <= hole.there and not hole.first <= number <= hole.last:
            content.apply(transaction)
    return content.total


def find(made: Cell, total: int, begun: int) -> Hole | None:
    sought = prefixes.Sought(total, begun)
    return prefixes.find_holes(made, KV, {sought}).get(sought)


@pytest.mark.parametrize("engine", ["leveldb", "sqlite"])
def test_each_hole_is_found(engine: str) -> None:
    made = cell(engine)
    states = {held.hash for held in oracle.after_each(made, KV)}
    # inserts, then inserts and updates, then batches and deletes; reads come between
    for hole in (Hole(2, 2, 3), Hole(0, 4, 7), Hole(5, 9, 14), Hole(6, 6, 9), Hole(24, 30, 33)):
        total = with_hole(made, hole)
        assert total not in states
        found = find(made, total, 40)
        assert found and with_hole(made, found) == total
        assert found.last - found.first <= hole.last - hole.first
        assert find(made, total, found.there) is None, "what has not begun cannot be there"


def test_a_lost_suffix_is_no_hole_and_other_content_is_none_either() -> None:
    made = cell()
    assert find(made, 0x0123456789ABCDEF, 40) is None
    content, transactions = oracle.changes(made, KV)
    for transaction in transactions:
        # half a batch
        content.apply(transaction[: len(transaction) // 2] if len(transaction) > 1 else transaction)
    assert find(made, content.total, 40) is None


def test_a_long_run_is_not_searched() -> None:
    made = cell(n=prefixes.MOST)
    total = with_hole(made, Hole(2, 2, 3))
    assert find(made, total, 10) == Hole(2, 2, 3)
    assert find(made, total, prefixes.MOST + 10) is None


def test_each_trial_has_its_own_begun_transactions(tmp_path: Path) -> None:
    """Equal contents of three trials: the smallest hole has a transaction that only the first trial began."""
    trace = tmp_path / "a.trace"
    lines = ("insert 9 a", "update 1 b", "insert 2 c", "delete 9")
    trace.write_text("\n".join(["commitpath requests 1", "row 1 x", *lines]) + "\n")
    made = make_cell({"WORKLOAD": "requests", "FILE": str(trace), "ENGINE": "leveldb"})
    content, transactions = oracle.changes(made, ["requests"])
    content.apply(list(transactions)[2])
    trials = pl.DataFrame({"hash": [f"{content.total:016x}"] * 3, "begun": [4, 3, 2], "is_read": [1] * 3})
    found = prefixes.holes_of_trials(trials, [None] * 3, made, ["requests"])
    assert found.rows() == [(1, 1, 3), (0, 1, 2), (None, None, None)]


def test_a_hole_in_words() -> None:
    row = {"hole_first": 4, "hole_last": 4, "hole_there": 9}
    assert prefixes.describe_hole(row) == "transaction 4 is gone, and 9 is there"
    assert prefixes.describe_hole(row | {"hole_last": 8}) == "transactions 4 to 8 are gone, and 9 is there"
