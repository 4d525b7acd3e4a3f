"""Labels and waits of ext4 without a journal (a recorded run); `make audit` sees spoiled waits."""

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from analysis import run as runs
from analysis.adapters.layouts import JOURNAL
from analysis.audit import waits
from analysis.ledger.build import Ledger
from analysis.schemas.ledger import WAITS

SHARES = ("journal_wait_ns", "other_wait_ns")
WAITED = "syncs of the thread 1005 waited for unrecorded events"


@pytest.fixture(scope="module")
def recorded(built_run: Callable[[str], runs.Run]) -> runs.Run:
    return built_run("sample-nojournal")


def ledger(run: runs.Run) -> Ledger:
    assert run.ledger is not None
    return run.ledger


def test_every_byte_has_a_label_that_its_bytes_confirm(recorded: runs.Run) -> None:
    """But for bitmaps, whose checksums are in the descriptors of their groups."""
    pieces = ledger(recorded).pieces
    label = pl.col("label").cast(pl.String)
    assert set(pieces.select(label).to_series().unique()) == {
        *("database page", "rollback journal", "inode/node", "bitmap/SIT/NAT/superblock", "directory")
    }
    unconfirmed = pieces.filter(pl.col("confirmed").is_null() | ~pl.col("confirmed"))
    assert set(unconfirmed.select(label).to_series()) == {"bitmap/SIT/NAT/superblock"}
    assert pieces["confirmed"].all()  # of what is not null


def test_a_write_to_its_place_is_waited_for_as_a_journal_is(recorded: runs.Run) -> None:
    costs = ledger(recorded).costs
    away = sum(int(costs[name].sum()) for name in WAITS)
    waited, other = (int(costs[name].sum()) / away for name in SHARES)
    assert waited > 0.2 and other < 0.01


def as_journalled(made: Ledger) -> Ledger:
    """The layout has a journal, which an observer of the journal would have seen waited for."""
    labels = made.given.layout.labels.copy()
    labels[-1] = JOURNAL
    return replace(made, given=replace(made.given, layout=replace(made.given.layout, labels=labels)))


def without_inodes(made: Ledger) -> Ledger:
    """What ten commands wrote to an inode table was no block of the filesystem's."""
    commands = made.pieces.filter(pl.col("label").cast(pl.String) == "inode/node")["command"][20:30]
    home = pl.when(~pl.col("command").is_in(commands.implode())).then("home")
    return replace(made, pieces=made.pieces.with_columns(home=home))


def at_once(made: Ledger) -> Ledger:
    """Each such command was done as soon as it was issued."""
    done = pl.when(pl.col("kind").cast(pl.String) == "inode/node").then("issue_ns").otherwise("complete_ns")
    return replace(made, ledger=made.ledger.with_columns(complete_ns=done))


@pytest.mark.parametrize("spoil", [as_journalled, without_inodes, at_once])
def test_a_wait_without_its_write_is_seen(recorded: runs.Run, spoil: Callable[[Ledger], Ledger]) -> None:
    made = ledger(recorded)
    assert waits.explained(made) == []
    assert [reason.partition(" ")[2] for reason in waits.explained(spoil(made))] == [WAITED]
