"""Transactions of several threads: which one a thread is in, and which a checkpoint or flush is for."""

from pathlib import Path

import numpy as np
import pytest

from analysis.adapters import drivertables
from analysis.adapters.proberecords import RECORD
from analysis.ledger import causes
from analysis.ledger.timeline import Lanes, Timeline, innermost
from base.arrays import LastBefore, ints
from base.errors import FileError


@pytest.mark.parametrize(
    ("transactions", "found"),
    [
        # tid, begin, end; what thread 7 and thread 9 are in at 0, 1, ... 9
        ([], "----------/----------"),
        ([(7, 2, 4), (7, 5, 6)], "--00-1----/----------"),
        # they overlap, of two threads
        ([(7, 1, 5), (9, 3, 8)], "-0000-----/---11111--"),
        # one within another, of two connections: the one that was begun last
        ([(7, 1, 8), (7, 3, 5)], "-0011000--/----------"),
        # neither within the other
        ([(7, 1, 5), (7, 3, 8)], "-0011111--/----------"),
        ([(7, 1, 8), (9, 2, 3), (7, 2, 4), (7, 4, 6)], "-0223300--/--1-------"),
        # begun at once
        ([(7, 1, 4), (7, 1, 3)], "-110------/----------"),
    ],
)
def test_a_thread_is_in_the_transaction_that_it_began_last(
    transactions: list[tuple[int, int, int]], found: str
) -> None:
    columns = np.array(transactions, np.int64).reshape(-1, 3).T
    lanes = innermost(*(ints(column) for column in columns))
    for tid, wanted in zip((7, 9), found.split("/"), strict=True):
        times = np.arange(10)
        numbers = lanes.rows_at(times, np.full_like(times, tid)).tolist()
        assert "".join("-" if number < 0 else str(number) for number in numbers) == wanted


@pytest.mark.parametrize(
    ("thread", "begin", "end", "transactions"),
    [
        # another thread's, within the syncs of both; of one; behind the one that began last
        (3, 25, 30, {0, 1}),
        (3, 12, 30, {0}),
        (3, 42, 45, {0}),
        # their own
        (7, 25, 30, {0}),
        (9, 25, 30, {1}),
    ],
)
def test_a_checkpoint_or_a_flush_is_for_all_syncs_that_it_lies_in(
    thread: int, begin: int, end: int, transactions: set[int]
) -> None:
    """Thread 7 syncs from 10 to 50, thread 9 from 20 to 40, each in a transaction."""
    tids, begins, ends = ints([7, 9]), ints([10, 20]), ints([50, 40])
    lanes = innermost(tids, begins - 1, ends + 1), Lanes(LastBefore(tids, begins), ends, np.arange(2))
    always, none = (ints([0]), ints([100])), (ints([]), ints([]))
    line = Timeline(tids, (begins - 1, ends + 1), always, (begins, ends), np.arange(2), tids, none, lanes)
    jobs = np.zeros(1, RECORD)
    jobs["tid"], jobs["begin_ns"], jobs["end_ns"] = thread, begin, end
    assert set(causes._contained(jobs, line).groups.members.tolist()) == transactions


GOOD = "transaction,phase,op,begin_ns,end_ns,changes,tid,pages,rolled_back,file\n"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("1,command,insert,5,6,1,7,2,0,a.db\n", "transaction is 1"),
        ("0,command,insert,7,6,1,7,2,0,a.db\n", "end_ns is 6"),
        ("0,command,insert,5,6,1,7,2,0,a.db\n1,command,insert,4,9,1,7,2,0,a.db\n", "begin_ns is 4"),
        ("0,command,insert,5,6,1,7,2,0\n", "line 2"),
    ],
)
def test_what_no_preload_notes_is_refused(tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "transactions.csv").write_text(GOOD + rows)
    with pytest.raises(FileError, match=said):
        drivertables.noted_transactions(tmp_path / "transactions.csv")
