"""SQLite's files are recognised by their bytes: real ones, which SQLite wrote here."""

import random
import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from paged import Paged, told

from analysis.content import rollback as rollback_format
from analysis.content import sqlite
from analysis.content.units import Written

SIZES = (512, 1024, 4096, 16384)
WAL, JOURNAL, DATABASE, SHM = (30, 20, 10, 40)  # inodes
OFFSET = 3  # column of Paged.rows


def opened(path: Path, size: int, mode: str) -> sqlite3.Connection:
    """A database of 200 rows of a page's half."""
    link = sqlite3.connect(path, isolation_level=None)
    link.execute(f"PRAGMA page_size={size}")
    link.execute(f"PRAGMA journal_mode={mode}")
    link.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, value TEXT)")
    random.seed(size)
    rows = ((None, random.randbytes(size // 4).hex()) for _ in range(200))
    link.execute("BEGIN")
    link.executemany("INSERT INTO t VALUES (?, ?)", rows)
    link.execute("COMMIT")
    return link


def wal(tmp_path: Path, size: int) -> Paged:
    """A WAL of some transactions, its index, and the database as the checkpoint writes it."""
    path, pages = tmp_path / "t.db", Paged(page_size=str(size), synchronous="full")
    link = opened(path, size, "wal")
    link.execute("PRAGMA wal_checkpoint(RESTART)")
    for row in range(1, 60, 7):
        link.execute("UPDATE t SET value = ? WHERE id = ?", (f"{row:0{size // 2}}", row))
    pages.add("wal", WAL, Path(f"{path}-wal").read_bytes())
    pages.add("shm", SHM, Path(f"{path}-shm").read_bytes()[:4096])
    before = path.read_bytes()
    link.execute("PRAGMA wal_checkpoint(PASSIVE)")
    after = path.read_bytes()
    for page in range(0, len(after), 4096):
        if before[page : page + 4096] != after[page : page + 4096]:
            pages.add("database", DATABASE, after[page : page + 4096], page // 4096)
    link.close()
    return pages


def rollback(tmp_path: Path) -> Paged:
    """The pages before a transaction, its rollback journal in the middle, and the pages behind it."""
    path, pages = tmp_path / "t.db", Paged(page_size="4096", synchronous="full", journal_mode="delete")
    link = opened(path, 4096, "delete")
    link.execute("PRAGMA cache_size=10")
    pages.add("database", DATABASE, path.read_bytes())
    link.execute("BEGIN")
    link.execute("UPDATE t SET value = upper(value) WHERE id < 60")  # the cache is too small: it spills
    pages.add("journal", JOURNAL, Path(f"{path}-journal").read_bytes()[: 10 * 4096])
    link.execute("COMMIT")
    link.close()
    pages.add("database", DATABASE, path.read_bytes())
    return pages


def of(inode: int, pages: Paged, found: list[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """What is said of the units of a file."""
    return [said for said, row in zip(found, pages.rows, strict=True) if row[2] == inode]


def judged(pages: Paged) -> list[tuple[str, str | None]]:
    return told(sqlite.read(pages.evidence()), len(pages.rows)).rows()


@pytest.mark.parametrize("size", SIZES)
def test_a_wal_and_what_a_checkpoint_writes(size: int, tmp_path: Path) -> None:
    pages = wal(tmp_path, size)
    found = judged(pages)
    roles = [row[2] for row in pages.rows]
    rules = {inode: {said for said, of in zip(found, roles, strict=True) if of == inode} for inode in roles}
    # pages behind the newest frame hold what the WAL had before its restart, which is no longer whole
    assert ("confirmed", "frame of a WAL") in rules[WAL]
    assert rules[SHM] == {("confirmed", "header of a WAL's index")}
    assert rules[DATABASE] <= {
        ("confirmed", "page that a frame or a record has"),
        ("confirmed", "first page of a database"),
    }
    assert roles.count(DATABASE) > 3


@pytest.mark.parametrize("size", SIZES[:3])  # a page that has a frame's header
def test_a_page_of_a_wal_at_another_place_is_contradicted(size: int, tmp_path: Path) -> None:
    pages = wal(tmp_path, size)
    pages.exchange(OFFSET, 1, 2)
    found = judged(pages)
    assert ("contradicted", "frame of another place of a WAL") in found[1:3]


def logged(pages: Paged, size: int) -> pl.DataFrame:
    """The xWrites of the frames' headers in a WAL's pages, each a ns after the one before."""
    text = b"".join(page for page, row in zip(pages.pages, pages.rows, strict=True) if row[2] == WAL)
    offset = range(32, len(text) - 24, 24 + size)
    number = [int.from_bytes(text[at : at + 4], "big") for at in offset]
    rows = {"inode": WAL, "begin_ns": range(len(number)), "end_ns": range(len(number))}
    rows |= {"offset": offset, "bytes": 24, "op": "write", "file": "wal", "page": number}
    return pl.DataFrame(
        {name: [of] * len(number) if not isinstance(of, range | list) else of for name, of in rows.items()}
    )


@pytest.mark.parametrize("size", SIZES)
def test_a_frame_of_another_page_than_was_logged_is_contradicted(size: int, tmp_path: Path) -> None:
    pages = wal(tmp_path, size)
    calls, late = logged(pages, size), np.full(len(pages.rows), 10**6)
    rule = ("contradicted", "frame of another page than its call logs")

    def found(calls: pl.DataFrame) -> list[int]:
        said = told(sqlite.read(pages.evidence(Written(calls, late, late))), len(pages.rows)).rows()
        return [place for place, one in enumerate(said) if one == rule]

    assert found(calls) == []
    of_third = (pl.col("offset") == 32 + 2 * (24 + size)).alias("third")
    other = calls.with_columns(page=pl.col("page") + of_third)
    assert found(other) == [(32 + 2 * (24 + size)) // 4096]
    # another xWrite of it began before it was written out
    again = other.filter(of_third).with_columns(begin_ns=10**6, end_ns=2 * 10**6)
    assert found(pl.concat([other, again], how="vertical_relaxed")) == []
    # a header in two parts has no number
    assert found(other.with_columns(bytes=pl.when(pl.col("offset") == 32).then(8).otherwise("bytes"))) == []


def test_pages_of_the_database_exchanged_are_contradicted(tmp_path: Path) -> None:
    pages = wal(tmp_path, 4096)
    last = len(pages.rows) - 1
    pages.exchange(OFFSET, last, last - 1)
    rule = "page that a frame has of another place"
    assert judged(pages)[-2:] == [("contradicted", rule)] * 2


def test_files_exchanged_are_contradicted(tmp_path: Path) -> None:
    """The inode of the WAL is said to be the shm's."""
    pages = wal(tmp_path, 4096)
    other = next(row for row in pages.rows if row[2] == SHM)
    pages.rows = [(*other[:3], *row[3:]) if row[2] == WAL else row for row in pages.rows]
    assert judged(pages)[0] == ("contradicted", "bytes of a WAL under another label")


def test_a_rollback_journal_and_the_pages_it_keeps(tmp_path: Path) -> None:
    pages = rollback(tmp_path)
    found = judged(pages)
    # of what begins in the tenth page the rest is not here
    assert of(JOURNAL, pages, found)[:9] == [("confirmed", "record of a rollback journal")] * 9
    of_database = of(DATABASE, pages, found)
    before, after = of_database[: len(of_database) // 2], of_database[len(of_database) // 2 :]
    recorded = [page for page, (_, rule) in enumerate(before) if rule == "page that a frame or a record has"]
    assert len(recorded) >= 8
    rows = ("confirmed", "rows that belong to the page")
    assert [after[page] for page in recorded if page] == [rows] * (len(recorded) - (0 in recorded))
    assert {state for state, _ in found} <= {"confirmed", "silent"}


@pytest.mark.parametrize(("size", "cache"), [(512, 13), (1024, 10), (2048, 30), (4096, 13), (8192, 10)])
def test_a_journal_of_a_transaction_larger_than_the_cache(size: int, cache: int, tmp_path: Path) -> None:
    """Each time it spills, SQLite begins another part of the journal, with its own header and nonce."""
    path, pages = tmp_path / "t.db", Paged(page_size=str(size), synchronous="full", journal_mode="delete")
    link = opened(path, size, "delete")
    link.execute(f"PRAGMA cache_size={cache}")
    link.execute("BEGIN")
    link.execute("UPDATE t SET value = upper(value)")
    text = Path(f"{path}-journal").read_bytes()
    link.close()
    magic = rollback_format.MAGIC.to_bytes(8, "big")
    assert sum(text[at : at + 8] == magic for at in range(0, len(text), 512)) > 2
    pages.add("journal", JOURNAL, text)
    found = judged(pages)
    assert {state for state, _ in found} <= {"confirmed", "silent"}
    # the last part was not synced: its header has no magic
    assert [state for state, _ in found].count("confirmed") > 0.8 * len(found)
    # the rule still sees two exchanged pages of the first part
    if size in (2048, 4096):
        pages.exchange(OFFSET, 0, 2)
        assert ("contradicted", "record of another place of a rollback journal") in judged(pages)[:3]


def test_half_of_a_page_of_a_journal_that_fits_elsewhere_is_no_page_of_there(tmp_path: Path) -> None:
    """The checksum of a record adds twenty bytes, so the part of one fits at many places."""
    pages = rollback(tmp_path)
    journal = [page for page, row in zip(pages.pages, pages.rows, strict=True) if row[2] == JOURNAL]
    begin = 512 + 2 * 8  # of the record in the third page
    for first, rule in (
        (bytes(begin), None),
        (journal[2][:begin], "record of another place of a rollback journal"),
    ):
        pages.add("journal", JOURNAL, first + journal[2][begin:], 5)
        assert judged(pages)[-1] == ("contradicted" if rule else "silent", rule)


@pytest.mark.parametrize("size", SIZES)
def test_a_wal_that_is_written_before_its_transaction_is_sealed(size: int, tmp_path: Path) -> None:
    """A page that the cache spills twice overwrites its frame; the frames from there on have no salts."""
    path, pages = tmp_path / "t.db", Paged(page_size=str(size), synchronous="full", journal_mode="wal")
    link = opened(path, size, "wal")
    link.execute("PRAGMA cache_size=10")
    for value in ("zeroblob(30000)", "randomblob(700)"):
        link.execute("BEGIN")
        for _ in range(2):
            link.execute(f"UPDATE t SET value = {value} WHERE id < 90")
            pages.add("wal", WAL, Path(f"{path}-wal").read_bytes())
        link.execute("COMMIT")
        pages.add("wal", WAL, Path(f"{path}-wal").read_bytes())
    link.execute("PRAGMA wal_checkpoint")
    pages.add("database", DATABASE, path.read_bytes())
    link.close()
    found = judged(pages)
    assert "contradicted" not in {state for state, _ in found}
    assert ("confirmed", "frame of a WAL") in found
