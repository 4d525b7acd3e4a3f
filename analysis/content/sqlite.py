"""SQLite's files: WAL and rollback journal by their own checksums, the database's pages by them."""

from __future__ import annotations

import numpy as np

from analysis.content import btree, rollback, wal
from analysis.content.blocks import BLOCK
from analysis.content.evidence import Evidence
from analysis.content.pages import Known
from analysis.content.verdicts import CONFIRMED, Said, confirmed, contradicted
from analysis.content.versions import Versions
from analysis.ledger.arrays import Ints
from analysis.ledger.schema import LABELS
from base.errors import BadInput

_PAGE_SIZES = tuple(str(1 << power) for power in range(9, 17))
_INDEX_VERSION = 3007000  # WalIndexHdr.iVersion of wal.c: of the shm
_INDEX_HEADER = 48  # bytes; it is there twice


def read(given: Evidence) -> list[Said]:
    """Judge the units of SQLite's files, in the places of the files and in a filesystem's journal."""
    units, blocks, size = given.units, given.blocks, _page_size(given)
    of_wal, of_journal, of_database = (
        Versions(blocks, units, units.of_file(role)) for role in ("wal", "journal", "database")
    )
    frames = wal.frames(of_wal, blocks, size)
    records = rollback.records(of_journal, blocks, size)
    known = Known(
        size,
        np.concatenate([frames.pages, records.pages]),
        np.concatenate([frames.contents, records.contents]),
    )
    said = [
        confirmed("frame of a WAL", of_wal.units[frames.confirmed]),
        contradicted("frame of another place of a WAL", of_wal.units[frames.elsewhere]),
        confirmed("record of a rollback journal", of_journal.units[records.confirmed]),
        contradicted("header of a rollback journal elsewhere", of_journal.units[records.elsewhere]),
        *_database(given, of_database, known, frames.pages.size > 0),
        *_shared_memory(given),
    ]
    certain = np.concatenate([one.units for one in said])
    said += _others(given, known, certain)
    # a copy in a filesystem's journal is that before it is a page of a file
    in_place = units.label != LABELS.index("filesystem journal")
    return [
        one._replace(units=one.units[in_place[one.units]]) if one.state == CONFIRMED else one for one in said
    ]


def _page_size(given: Evidence) -> int:
    """Return the bytes of a page. Raises BadInput."""
    text = str(given.settings.get("page_size"))
    if text not in _PAGE_SIZES:
        raise BadInput("config.json", "effective.page_size", text, ", ".join(_PAGE_SIZES))
    return int(text)


def _database(given: Evidence, versions: Versions, known: Known, in_wal: bool) -> list[Said]:
    """Judge pages of the database: what a frame or a record has, or rows that belong there."""
    pages, offset = given.blocks.take(versions.row), versions.page * BLOCK
    here, there = known.same(pages.view(np.uint64), offset)
    first = (versions.page == 0) & btree.titled(pages)
    left = np.flatnonzero(~here & ~first)
    rows = left[known.by_rows(pages[left], offset[left])]
    sure = here | first
    sure[rows] = True
    said = [
        confirmed("page that a frame or a record has", versions.units[here]),
        confirmed("first page of a database", versions.units[first & ~here]),
        confirmed("rows that belong to the page", versions.units[rows]),
        contradicted(
            "first page of a database elsewhere", versions.units[btree.titled(pages) & (offset > 0)]
        ),
    ]
    if in_wal:
        # what a checkpoint writes is in a frame; a rollback journal has what a page was before
        said.append(contradicted("page that a frame has of another place", versions.units[there & ~sure]))
    return said


def _shared_memory(given: Evidence) -> list[Said]:
    """Confirm the header of the WAL's index."""
    which = given.units.of_file("shm")
    which = which[given.units.offset[which] == 0]
    words = given.blocks.words(given.units.row[which], 0, _INDEX_HEADER // 2, "<u4")
    twice = (words[:, :12] == words[:, 12:]).all(axis=1) & (words[:, 0] == _INDEX_VERSION)
    return [confirmed("header of a WAL's index", which[twice])]


def _others(given: Evidence, known: Known, certain: Ints) -> list[Said]:
    """Contradict pages of other files that hold a page of the database."""
    units = given.units
    which = np.setdiff1d(np.flatnonzero(units.placed), np.union1d(certain, units.of_file("database")))
    words = given.blocks.take(units.row[which]).view(np.uint64)
    here, there = known.same(words, units.offset[which])
    return [contradicted("page of a database in another file", which[here | there])]
