"""Watched commands of threads and processes at once, recorded on the board (record-watch-sample.sh).

`concurrent`: processes of sqlite3 in databases of their own, in DELETE and in WAL, writers of one database in
either, and four threads of fio. `threads`: tests/bench/programs/concurrent.py. The device takes one command
at a time.
"""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from analysis import checks
from analysis.adapters.layouts import DIRECTORY
from analysis.audit import journal_commits
from analysis.checks import ledger_consistency as of_ledger
from analysis.command import command_tables, transactions
from analysis.ledger.build import Ledger
from analysis.run import Run
from base.arrays import ints


@pytest.fixture(scope="module")
def read(built_run: Callable[[str], Run]) -> Run:
    return built_run("concurrent-sample")


@pytest.fixture(scope="module")
def threads(built_run: Callable[[str], Run]) -> Run:
    return built_run("threads-sample")


@pytest.fixture
def made(read: Run) -> Ledger:
    assert read.ledger is not None
    return read.ledger


def test_they_are_accepted(read: Run, threads: Run) -> None:
    assert checks.reasons(read) == []
    assert checks.reasons(threads) == []


def test_processes_and_locked_databases_are_counted(threads: Run) -> None:
    """The program counted the calls that said that the database is locked, and printed how many."""
    summary = transactions.summary(threads, command_tables.build(threads))
    assert summary["said"] == "168 in 13 processes"
    printed = (threads.folder / "raw/driver/stdout").read_text()
    assert re.findall("busy ([0-9]+)", printed) == [str(summary["locks"]["busy"])]
    assert (summary["locks"]["sleeps"] > 0, summary["locks"]["slept_ns"] > 0) == (True, True)


def test_pages_of_files_are_where_maps_of_files_came_later(threads: Run) -> None:
    made = threads.ledger
    assert made is not None
    layout = made.given.layout
    fixed = replace(layout, changing=layout.labels == DIRECTORY)
    (said,) = of_ledger.places(replace(made, given=replace(made.given, layout=fixed)))
    assert said.startswith("6 pieces with another label than their region")
    assert of_ledger.places(made) == []


def test_each_flush_is_of_the_sync_or_the_commit_that_waited_for_it(read: Run, made: Ledger) -> None:
    """A flush that a thread ordered in its sync completed before that call returned."""
    causes = command_tables.build(read).causes
    assert causes is not None
    assert set(causes.filter(pl.col("flushes") > 0)["reason"]) == {"its own sync", "waited for", "drain"}
    ordered = made.few["flush"]
    ordered = ordered[ordered["begin_ns"] >= made.given.window[0]]
    commands = made.ledger.filter(pl.col("kind") == "flush")
    own = commands.filter(pl.col("tid").is_in(ordered["tid"].tolist()))
    assert own.height == ordered.size
    for row in own.iter_rows(named=True):
        calls = ordered[ordered["tid"] == row["tid"]]
        inside = (calls["begin_ns"] <= row["queue_ns"]) & (calls["end_ns"] >= row["complete_ns"])
        assert inside.sum() == 1


def test_waits_end_long_after_their_commit_and_none_before_it(made: Ledger) -> None:
    """Others have the CPU: no limit on it can be told, but on the other side there is one."""
    commits = dict(zip(made.commits["commit"], made.commits["end_ns"], strict=True))
    waits = made.few["commit_wait"]
    late = ints(waits["end_ns"]) - np.array([commits[one] for one in waits["a"].tolist()])
    assert late.max() > 300_000
    early = waits.copy()
    early["end_ns"] = early["begin_ns"] + np.uint64(1000)
    made.few["commit_wait"] = early
    try:
        assert any(
            "waits for a commit end before it is written" in one for one in journal_commits.consistent(made)
        )
    finally:
        made.few["commit_wait"] = waits


def test_blocks_of_directories_that_are_gone_are_known_by_their_bytes(made: Ledger) -> None:
    """Two directories were removed, and maps of files: their copies in the journal say what they are."""
    copies = made.pieces.filter(pl.col("of").is_not_null())
    assert set(copies["of"].cast(pl.String)) == {*("directory", "inode/node", "bitmap/SIT/NAT/superblock")}
    gone = made.given.layout.label(ints(copies["home"])) < 0
    kinds = copies.filter(pl.Series(gone))["of"].cast(pl.String).value_counts().rows()
    assert dict(kinds) == {"directory": 51, "inode/node": 7}
    assert of_ledger.unattributed_share(made) == 0
