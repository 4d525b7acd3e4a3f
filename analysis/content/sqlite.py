"""SQLite's files: WAL and rollback journal by their own checksums, the database's pages by them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from analysis.content import btree, logged, rollback, strays, synced, wal
from analysis.content.blocks import BLOCK
from analysis.content.evidence import Evidence
from analysis.content.pages import Known, hashes
from analysis.content.verdicts import Said, confirmed, contradicted
from analysis.content.versions import Versions
from analysis.observers import Content as Kept
from analysis.schemas.ledger import LABELS
from base.arrays import Ints, LastBefore, at, ints
from base.errors import BadInput
from model.engines.sqlite import FILES

# each page of these has a checksum: what only its place says does not confirm it
SEALED = tuple(FILES[role][0] for role in ("wal", "journal"))
_PAGE_SIZES = tuple(str(1 << power) for power in range(9, 17))
# fileformat2.html, 1.3: bytes of the first page
_PAGES, _RELEASE = 28, 96
_INDEX_VERSION = 3007000  # WalIndexHdr.iVersion of wal.c: of the shm
_INDEX_HEADER = 48  # bytes; it is there twice


class _Right(NamedTuple):
    """Units of a role whose bytes are what they should be."""

    rule: str
    role: str
    units: Ints


class _Read(NamedTuple):
    """What the files of a database hold."""

    right: list[_Right]
    said: list[Said]
    database: Versions
    journal: Versions
    frames: wal.Frames
    records: rollback.Records
    known: Known


def read(given: Evidence) -> list[Said]:
    """Judge the units of SQLite's files, in the places of the files and in a filesystem's journal."""
    size = _page_size(given)
    each = [_read(given, own, number, size) for number, own in enumerate(_databases(given))]
    right = [*(one for found in each for one in found.right), _shared_memory(given)]
    certain = np.concatenate([one.units for one in right])
    said = [one for single in right for one in _labelled(given, single)]
    for found in each:
        said += found.said
        said += strays.read(given, found.known, found.frames.salts, certain)
        said += _left(given, found, certain, size)
    return said


def _databases(given: Evidence) -> list[np.ndarray]:
    """Return of each database which units are of its files.

    Of which one an inode is says the last open before the unit was written: a journal has the number of one
    that is gone, of another database.
    """
    inode = given.units.inode
    calls = given.written.calls if given.written else None
    if calls is None or "database" not in calls.columns or calls["database"].is_null().all():
        return [np.ones(inode.size, bool)]
    opens = calls.filter((pl.col("op").cast(pl.String) == "open") & pl.col("database").is_not_null())
    last = LastBefore(ints(opens["inode"]), ints(opens["begin_ns"]))
    own = at(ints(opens["database"]), last.find(inode, given.written.queued if given.written else inode))
    return [own == number for number in range(1, len(given.sizes) + 1)]


def _read(given: Evidence, own: np.ndarray, number: int, size: int) -> _Read:
    """Read the files of a database, of which `own` are the units."""
    units, blocks = given.units, given.blocks
    of_wal, of_journal, of_database = (
        Versions(blocks, units, which[own[which]])
        for which in (units.of_file(role) for role in ("wal", "journal", "database"))
    )
    frames = wal.frames(of_wal, blocks, size)
    records = rollback.records(of_journal, blocks, size)
    known = Known(
        size,
        np.concatenate([frames.pages, records.pages]),
        np.concatenate([frames.contents, records.contents]),
    )
    right = [
        _Right("frame of a WAL", "wal", of_wal.units[frames.confirmed]),
        _Right("record of a rollback journal", "journal", of_journal.units[records.confirmed]),
        *_database(given, of_database, known),
    ]
    said = [
        contradicted("frame of another place of a WAL", of_wal.units[frames.elsewhere]),
        contradicted("frame of another page than its call logs", logged.other_pages(given, of_wal, size)),
        contradicted("record of another place of a rollback journal", of_journal.units[records.elsewhere]),
        *_told_otherwise(given, of_database, size, number),
    ]
    return _Read(right, said, of_database, of_journal, frames, records, known)


def _left(given: Evidence, found: _Read, certain: Ints, size: int) -> list[Said]:
    """Contradict pages of a database that are none of the `certain`, where what is known of it says so."""
    versions = found.database
    left = np.flatnonzero(~np.isin(versions.units, certain))
    if found.frames.pages.size:
        # what a checkpoint writes is in a frame; a rollback journal has what a page was before
        pages = given.blocks.take(versions.row[left]).view(np.uint64)
        there = found.known.same(pages, versions.page[left] * BLOCK)[1]
        return [contradicted("page that a frame has of another place", versions.units[left[there]])]
    if size == BLOCK and _in_order(given):
        return [_as_recorded(given, versions, found.journal, found.records)]
    return []


def _told_otherwise(given: Evidence, versions: Versions, size: int, number: int) -> list[Said]:
    """Contradict first pages that another release wrote than the one that ran, and the last of them if it has
    another size of the database than the file has afterwards.

    pager_write_changecounter notes the release with each change of the page that is written, and the
    number of pages is in it with each change of that.
    """
    call = given.units.call[versions.units]
    which = np.flatnonzero((versions.page == 0) & (call >= 0))
    which = which[btree.titled(given.blocks.take(versions.row[which]))]
    rows = versions.row[which]
    pages, release = (given.blocks.words(rows, at, 1, ">u4")[:, 0] for at in (_PAGES, _RELEASE))
    found = []
    if ran := _number(given.release):
        other = versions.units[which[release != ran]]
        found.append(contradicted("first page of another release", other))
    sizes = given.sizes[number] if given.sizes else {}
    if which.size and "database" in sizes:
        last = rows == rows.max()
        wrong = last & (pages.astype(np.int64) * size != sizes["database"])
        found.append(contradicted("first page of a database of another size", versions.units[which[wrong]]))
    return found


def _number(release: str) -> int | None:
    """Return the SQLITE_VERSION_NUMBER of a release; None where it has another form."""
    parts = re.fullmatch(r"([0-9]+)\.([0-9]{1,3})\.([0-9]{1,3})(\.[0-9]+)?", release)
    return int(parts[1]) * 1_000_000 + int(parts[2]) * 1000 + int(parts[3]) if parts else None


def unkept(settings: Mapping[str, Any], calls: pl.DataFrame, kept: Kept) -> pl.DataFrame:
    """Return the calls whose frames were synced, and are not in what was kept."""
    return synced.missing(calls, kept) if settings.get("journal_mode") == "wal" else calls.clear()


def _page_size(given: Evidence) -> int:
    """Return the bytes of a page. Raises BadInput."""
    text = str(given.settings.get("page_size"))
    if text not in _PAGE_SIZES:
        raise BadInput("config.json", "effective.page_size", text, ", ".join(_PAGE_SIZES))
    return int(text)


def _in_order(given: Evidence) -> bool:
    """Whether each page of a transaction is on the device before the next one, and a journal holds records of
    one transaction only."""
    mode, synchronous = (given.settings.get(name) for name in ("journal_mode", "synchronous"))
    return mode in ("delete", "truncate") and synchronous != "off"


def _labelled(given: Evidence, right: _Right) -> list[Said]:
    """Confirm units that have their file's label. A copy in a filesystem's journal is that in the first
    place, and says nothing of it here."""
    label = given.units.label[right.units]
    own, copied = (label == LABELS.index(name) for name in (FILES[right.role][0], "filesystem journal"))
    return [
        confirmed(right.rule, right.units[own]),
        contradicted(f"{right.rule} under another label", right.units[~own & ~copied]),
    ]


def _database(given: Evidence, versions: Versions, known: Known) -> list[_Right]:
    """Recognise pages of the database: what a frame or a record has, or rows that belong there."""
    pages, offset = given.blocks.take(versions.row), versions.page * BLOCK
    here, _ = known.same(pages.view(np.uint64), offset)
    first = (versions.page == 0) & btree.titled(pages) & ~here
    left = np.flatnonzero(~here & ~first)
    rows = left[known.by_rows(pages[left], offset[left])]
    return [
        _Right("page that a frame or a record has", "database", versions.units[here]),
        _Right("first page of a database", "database", versions.units[first]),
        _Right("rows that belong to the page", "database", versions.units[rows]),
    ]


def _as_recorded(given: Evidence, pages: Versions, journal: Versions, found: rollback.Records) -> Said:
    """Contradict pages that the next record of the page does not hold, where nothing was written between."""
    call = given.units.call[pages.units]
    number, size = pages.page + 1, call.size
    hashed = hashes(given.blocks.take(pages.row).view(np.uint64))
    recorded = given.units.call[journal.units[found.versions]]
    # the first after it is the last before it, backwards
    following = at(np.arange(recorded.size), LastBefore(found.pages, -recorded).find(number, -call - 1))
    again = LastBefore(number, -call).find(number, -call - 1)
    sooner = (again >= 0) & (call[again] <= at(recorded, following)) if size else np.zeros(0, bool)
    held = np.r_[hashes(found.contents), np.uint64(0)][following]
    other = (call >= 0) & (following >= 0) & ~sooner & (held != hashed)
    return contradicted("page that the next record has otherwise", pages.units[other])


def _shared_memory(given: Evidence) -> _Right:
    """Recognise the header of the WAL's index."""
    which = given.units.of_file("shm")
    which = which[given.units.offset[which] == 0]
    words = given.blocks.words(given.units.row[which], 0, _INDEX_HEADER // 2, "<u4")
    twice = (words[:, :12] == words[:, 12:]).all(axis=1) & (words[:, 0] == _INDEX_VERSION)
    return _Right("header of a WAL's index", "shm", which[twice])
