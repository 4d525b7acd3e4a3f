"""Records of pages that could not be so are refuted: recorded runs, whose bytes were kept, with few of them
changed.

Each fault is at one place or of some pages only; what is wrong throughout is in test_refuted_ledger.py.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_refuted_ledger import Change, Spoil, files, of, records, wrong

from analysis import stages
from analysis.adapters.proberecords import OWNERS
from analysis.audit import page_writes
from analysis.checks import counts, file_calls
from analysis.run import Run


def called(owner: str, which: Callable[[np.ndarray], np.ndarray]) -> Change:
    """Some runs of pages are said to be of another owner."""

    def change(rows: np.ndarray) -> np.ndarray:
        places = of(rows, "pages")
        rows["flags"][places[which(rows[places])]] = OWNERS.index(owner)
        return rows

    return change


def a_journal_is_a_directory(folder: Path) -> None:
    """One first page of a rollback journal, which F2FS may keep in its inode, is called a directory's."""
    inode = files(folder)["journal"]

    def one(rows: np.ndarray) -> np.ndarray:
        return np.flatnonzero((rows["a"] == inode) & (rows["b"] == 0) & (rows["flags"] == 0))[-1:]

    records(called("directory", one))(folder)


def writes_of_a_wal_lost(folder: Path) -> None:
    """xWrites of the WAL are gone from the log of calls."""
    path = folder / "raw/driver/vfs.csv"
    calls = pl.read_csv(path)
    wal = calls.with_row_index().filter((pl.col("file") == "wal") & (pl.col("op") == "write"))["index"]
    left = calls.with_row_index().filter(~pl.col("index").is_in(wal[20:22].implode())).drop("index", "call")
    left.with_row_index("call").write_csv(path)


FAULTS: dict[str, tuple[str, Spoil, str]] = {
    "a journal's page as a directory's": (
        "f2fs-delete",
        a_journal_is_a_directory,
        "1 directory pages of a file",
    ),
    "xWrites of a WAL that are lost": ("f2fs-wal", writes_of_a_wal_lost, "xWrites past the end of a WAL"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_refuted(fault: str, copy_run: Callable[[str], Path]) -> None:
    name, spoil, reason = FAULTS[fault]
    folder = copy_run(f"samples/{name}")
    spoil(folder)
    found = wrong(folder)
    assert any(reason in one for one in found), found


def test_a_page_is_written_when_somebody_wrote_to_it(built_run: Callable[[str], Run]) -> None:
    """A piece that a later command has once more is named; not the first time that it was written."""
    made = built_run("samples/ext4-ordered-delete").ledger
    assert made is not None
    assert page_writes.written_once(made) == []
    page = made.pieces.filter((pl.col("label") == "database page") & (pl.col("bytes") == 4096))[0]
    last = made.ledger.filter(pl.col("kind") == "database page")["command"][-1]
    again = page.with_columns(pl.lit(last).cast(page["command"].dtype).alias("command"))
    made = dataclasses.replace(made, pieces=made.pieces.vstack(again))
    assert page_writes.written_once(made)[0].startswith(
        "1 pages written again without a new xWrite: first call "
    )


def test_a_journalled_page_is_written_home_by_its_sync(built_run: Callable[[str], Run]) -> None:
    made = built_run("samples/ext4-journal-truncate").ledger
    assert made is not None
    logged = dataclasses.replace(made, pieces=made.pieces.filter(pl.col("of").is_not_null()))
    assert (
        "pages that the engine wrote and synced were not on the device" in file_calls.written_out(logged)[0]
    )


def test_where_no_sync_writes_home_its_commit_has_the_page(built_run: Callable[[str], Run]) -> None:
    """As data=journal on Linux 6.1: home are the pages of the sync before, all of them too late."""
    made = built_run("samples/ext4-journal-truncate").ledger
    assert made is not None
    home = pl.col("of").is_null() & pl.col("vfs_call").is_not_null()
    last = made.ledger.select(pl.col("command").max(), pl.col("complete_ns").max())
    late = pl.when(home).then(pl.lit(last["command"][0])).otherwise("command").alias("command")
    left = made.pieces.with_columns(late.cast(made.pieces["command"].dtype))
    assert file_calls.written_out(dataclasses.replace(made, pieces=left)) == []
    copies = left.filter(pl.col("of").is_not_null() & pl.col("vfs_call").is_not_null())
    lost = left.join(copies[3:4], on=left.columns, how="anti", nulls_equal=True)
    assert file_calls.written_out(dataclasses.replace(made, pieces=lost))[0].startswith(
        "1 pages that the engine wrote"
    )
    # one page that is home in time: then all must be
    one = made.pieces.filter(home)[:1]
    assert file_calls.written_out(dataclasses.replace(made, pieces=left.vstack(one)))


def test_a_sync_before_the_window_must_not_fail(copy_run: Callable[[str], Path]) -> None:
    folder = copy_run("samples/f2fs-wal")

    def fail(rows: np.ndarray) -> np.ndarray:
        rows["n"][of(rows, "sync")[0]] = 2**32 - 5
        return rows

    records(fail)(folder)
    run = stages.build(folder)
    assert run.ledger is not None and run.ledger.syncs["begin_ns"][0] < run.driver.window[0]
    assert counts.failures_reported(run)[0].startswith("1 syncs failed: first ")
