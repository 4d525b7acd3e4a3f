"""Records of pages that could not be so are refuted: recorded runs, whose bytes were kept, with few of them
changed.

Each fault is at one place or of some pages only; what is wrong throughout is in test_refuted_ledger.py.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_refuted_ledger import Change, Spoil, files, of, records, stretch, wrong

from analysis import run as runs
from analysis.adapters.proberecords import OWNERS
from analysis.checks import failures, pages

SAMPLES = Path(__file__).parent / "samples"
NAMES = ("ext4-journal-truncate", "ext4-ordered-delete", "f2fs-delete", "f2fs-wal")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name in NAMES:
        folder = tmp_path_factory.mktemp("recorded") / name
        shutil.unpack_archive(SAMPLES / f"{name}.tar.xz", folder)
        found[name] = folder / "run"
        host = json.loads((found[name] / "host.json").read_text())
        del host["raw_sha256"]  # it is not by them that a fault is seen
        (found[name] / "host.json").write_text(json.dumps(host))
    return found


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


def third_blocks(rows: np.ndarray) -> np.ndarray:
    """Each third run of pages of the block device."""
    return np.flatnonzero(rows["flags"] == OWNERS.index("device"))[::3]


def one_bio_earlier(rows: np.ndarray) -> np.ndarray:
    """A bio was queued 20 ms before it was, by its number."""
    bio = of(rows, "bio")[40]
    rows["begin_ns"][bio] -= np.uint64(20_000_000)
    rows["end_ns"][bio] -= np.uint64(20_000_000)
    return rows


def bios_a_little_later(rows: np.ndarray) -> np.ndarray:
    """All bios were queued 0.2 ms later, but none after its command."""
    bios = of(rows, "bio")
    for field in ("begin_ns", "end_ns"):
        rows[field][bios] += np.uint64(200_000)
    return rows


def first_wait(name: str, factor: float) -> Change:
    """The time of each wait for data that the driver was off the CPU is told shorter."""

    def change(rows: np.ndarray) -> np.ndarray:
        data, off = of(rows, name), of(rows, "off_cpu")
        begins, ends = rows["begin_ns"][off], rows["end_ns"][off]
        for wait in rows[data[10:14]]:
            inner = off[(begins > wait["begin_ns"]) & (ends < wait["end_ns"])]
            span = (rows["end_ns"][inner] - rows["begin_ns"][inner]) * factor
            rows["end_ns"][inner] = rows["begin_ns"][inner] + span.astype(np.uint64)
        return rows

    return change


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
        "1 pages of a directory that is a file",
    ),
    "blocks in the journal as nobody's": (
        "ext4-ordered-delete",
        records(called("none", third_blocks)),
        "copies in the journal of no mapping that nobody can have frozen",
    ),
    "a bio earlier": (
        "ext4-ordered-delete",
        records(one_bio_earlier),
        "queued before one with a lesser number",
    ),
    "bios later": ("f2fs-wal", records(bios_a_little_later), "bios that blktrace saw otherwise"),
    "shorter off the CPU": (
        "ext4-ordered-delete",
        records(first_wait("data_wait", 0.1)),
        "waits for data in which the thread",
    ),
    "syncs that take no time": ("f2fs-delete", records(stretch("sync", 0)), "calls go on after their syncs"),
    "xWrites of a WAL that are lost": ("f2fs-wal", writes_of_a_wal_lost, "xWrites of a WAL behind its end"),
}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wrong_as_recorded(name: str, recorded: dict[str, Path]) -> None:
    assert wrong(recorded[name]) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_refuted(fault: str, recorded: dict[str, Path], tmp_path: Path) -> None:
    name, spoil, reason = FAULTS[fault]
    folder = Path(shutil.copytree(recorded[name], tmp_path / "run"))
    spoil(folder)
    found = wrong(folder)
    assert any(reason in one for one in found), found


def test_a_page_is_written_when_somebody_wrote_to_it(recorded: dict[str, Path]) -> None:
    """A piece that a later command has once more is named; not the first time that it was written."""
    made = runs.read(recorded["ext4-ordered-delete"]).ledger
    assert made is not None
    assert pages.written_once(made) == []
    page = made.pieces.filter((pl.col("label") == "database page") & (pl.col("bytes") == 4096))[0]
    last = made.ledger.filter(pl.col("kind") == "database page")["command"][-1]
    again = page.with_columns(pl.lit(last).cast(page["command"].dtype).alias("command"))
    made = dataclasses.replace(made, pieces=made.pieces.vstack(again))
    assert pages.written_once(made)[0].startswith("1 pages written again that nobody wrote to: first call ")


def test_a_journalled_page_is_written_home_by_its_sync(recorded: dict[str, Path]) -> None:
    """By a kernel that does so: 6.12 of the sample. By an earlier one the copy in the journal is enough."""
    made = runs.read(recorded["ext4-journal-truncate"]).ledger
    assert made is not None
    logged = dataclasses.replace(made, pieces=made.pieces.filter(pl.col("of").is_not_null()))
    assert "pages that SQLite wrote and synced are in no command" in pages.written_out(logged)[0]
    earlier = dataclasses.replace(logged, given=dataclasses.replace(made.given, kernel=(6, 1, 0)))
    assert pages.written_out(earlier) == []


def test_a_sync_before_the_window_must_not_fail(recorded: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(recorded["f2fs-wal"], tmp_path / "run"))

    def fail(rows: np.ndarray) -> np.ndarray:
        rows["n"][of(rows, "sync")[0]] = 2**32 - 5
        return rows

    records(fail)(folder)
    run = runs.read(folder)
    assert run.ledger is not None and run.ledger.syncs["begin_ns"][0] < run.driver.window[0]
    assert failures.none(run)[0].startswith("1 syncs ended with an error: first ")
