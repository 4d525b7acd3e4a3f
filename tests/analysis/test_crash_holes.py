"""Holes in recovered databases: each that is made is found, and a lost suffix is none."""

from __future__ import annotations

import pytest
from some_cell import some_cell

from analysis.crash import holes
from analysis.crash.holes import Hole
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


@pytest.mark.parametrize("engine", ["leveldb", "sqlite"])
def test_each_hole_is_found(engine: str) -> None:
    made = cell(engine)
    states = {held.hash for held in oracle.after_each(made, KV)}
    # inserts, then inserts and updates, then batches and deletes; reads come between
    for hole in (Hole(2, 2, 3), Hole(0, 4, 7), Hole(5, 9, 14), Hole(6, 6, 9), Hole(24, 30, 33)):
        total = with_hole(made, hole)
        assert total not in states
        found = holes.find(made, KV, 40, {total})[total]
        assert with_hole(made, found) == total and found.last - found.first <= hole.last - hole.first
        assert holes.find(made, KV, found.there, {total}) == {}, "what has not begun cannot be there"


def test_a_lost_suffix_is_no_hole_and_other_content_is_none_either() -> None:
    made = cell()
    assert holes.find(made, KV, 40, {0x0123456789ABCDEF}) == {}
    content, transactions = oracle.changes(made, KV)
    for transaction in transactions:
        # half a batch
        content.apply(transaction[: len(transaction) // 2] if len(transaction) > 1 else transaction)
    assert holes.find(made, KV, 40, {content.total}) == {}


def test_a_long_run_is_not_searched() -> None:
    made = cell(n=holes.MOST)
    total = with_hole(made, Hole(2, 2, 3))
    assert holes.find(made, KV, 10, {total}) == {total: Hole(2, 2, 3)}
    assert holes.find(made, KV, holes.MOST + 10, {total}) == {}


def test_a_hole_in_words() -> None:
    row = {"hole_first": 4, "hole_last": 4, "hole_there": 9}
    assert holes.describe(row) == "transaction 4 is gone, and 9 is there"
    assert holes.describe(row | {"hole_last": 8}) == "transactions 4 to 8 are gone, and 9 is there"
