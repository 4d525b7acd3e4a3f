"""Confirm or contradict labels of SQLite's blocks by bytes: WAL frames, records, known pages, headers.

Blocks with such bytes that are labelled as something else are contradicted.
"""

import re
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.content import btree, rollback, wal
from analysis.content.blocks import BLOCK
from analysis.content.findings import Finding, contradicted, judge_label
from analysis.content.pages import KnownPages, hashes
from analysis.content.units import Evidence
from analysis.content.versions import Versions
from analysis.schemas.ledger import LABELS
from base.arrays import Ints, LastBefore, at, ints
from base.errors import FileError
from model.engines.sqlite import FILES

# each page of these files has a checksum, so a mapping by the filesystem alone does not confirm it
SEALED = tuple(FILES[role][0] for role in ("wal", "journal"))
_PAGE_SIZES = tuple(str(1 << power) for power in range(9, 17))
# fileformat2.html, 1.3: bytes of the first page
_PAGES, _RELEASE = 28, 96
_INDEX_VERSION = 3007000  # WalIndexHdr.iVersion of wal.c, in the shm file
_INDEX_HEADER = 48  # bytes; stored twice


class _Right(NamedTuple):
    """Units with bytes of a role's file."""

    rule: str
    role: str
    units: Ints


class _Read(NamedTuple):
    """The content of a database's files."""

    right: list[_Right]
    findings: list[Finding]
    database: Versions
    journal: Versions
    frames: wal.Frames
    records: rollback.Records
    known: KnownPages


def read(given: Evidence) -> list[Finding]:
    """Judge the units of SQLite's files, at home and in a filesystem's journal."""
    size = _page_size(given)
    contents = [_read(given, own, number, size) for number, own in enumerate(_databases(given))]
    right = [*(units for content in contents for units in content.right), _shared_memory(given)]
    certain = np.concatenate([units.units for units in right])
    findings = [
        finding
        for each in right
        for finding in judge_label(given, each.rule, FILES[each.role][0], each.units)
    ]
    for content in contents:
        findings += content.findings
        findings += _mislabelled(given, content.known, content.frames.salts, certain)
        findings += _contradicted_pages(given, content, certain, size)
    return findings


def _databases(given: Evidence) -> list[np.ndarray]:
    """Return for each database which units are of its files.

    The last open before the unit was written decides: inode numbers of deleted journals are reused by other
    databases.
    """
    inode = given.units.inode
    calls = given.written.calls
    if "database" not in calls.columns or calls["database"].is_null().all():
        return [np.ones(inode.size, bool)]
    opens = calls.filter((pl.col("op").cast(pl.String) == "open") & pl.col("database").is_not_null())
    last = LastBefore(ints(opens["inode"]), ints(opens["begin_ns"]))
    own = at(ints(opens["database"]), last.event(inode, given.written.queued))
    return [own == number for number in range(1, len(given.sizes) + 1)]


def _read(given: Evidence, own: np.ndarray, number: int, size: int) -> _Read:
    """Read the files of a database; `own`: its units."""
    units, blocks = given.units, given.blocks
    of_wal, of_journal, of_database = (
        Versions(blocks, units, selected[own[selected]])
        for selected in (units.of_file(role) for role in ("wal", "journal", "database"))
    )
    frames = wal.frames(of_wal, blocks, size)
    records = rollback.records(of_journal, blocks, size)
    known = KnownPages(
        size,
        np.concatenate([frames.pages, records.pages]),
        np.concatenate([frames.contents, records.contents]),
    )
    right = [
        _Right("frame of a WAL", "wal", of_wal.units[frames.confirmed]),
        _Right("record of a rollback journal", "journal", of_journal.units[records.confirmed]),
        *_database(given, of_database, known),
    ]
    findings = [
        contradicted("frame of another place of a WAL", of_wal.units[frames.elsewhere]),
        contradicted("frame of another page than its call logs", wal.other_pages(given, of_wal, size)),
        contradicted("record of another place of a rollback journal", of_journal.units[records.elsewhere]),
        *_wrong_header(given, of_database, size, number),
    ]
    return _Read(right, findings, of_database, of_journal, frames, records, known)


def _contradicted_pages(given: Evidence, content: _Read, certain: Ints, size: int) -> list[Finding]:
    """Contradict database pages with other known content, except the `certain` ones."""
    versions = content.database
    left = np.flatnonzero(~np.isin(versions.units, certain))
    if content.frames.pages.size:
        # a checkpoint writes the content of frames; a rollback journal has a page's earlier content
        pages = given.blocks.take(versions.row[left]).view(np.uint64)
        elsewhere = content.known.same(pages, versions.page[left] * BLOCK)[1]
        return [contradicted("page that a frame has of another place", versions.units[left[elsewhere]])]
    if size == BLOCK and _in_order(given):
        return [_as_recorded(given, versions, content.journal, content.records)]
    return []


def _wrong_header(given: Evidence, versions: Versions, size: int, number: int) -> list[Finding]:
    """Contradict first pages written by another release than the one that ran.

    Also contradict the last first page if it has another database size than the file after the run. Each
    change of the page sets its release (pager_write_changecounter), and each change of the size its size.
    """
    call = given.units.call[versions.units]
    selected = np.flatnonzero((versions.page == 0) & (call >= 0))
    selected = selected[btree.titled(given.blocks.take(versions.row[selected]))]
    rows = versions.row[selected]
    pages, release = (given.blocks.words(rows, at, 1, ">u4")[:, 0] for at in (_PAGES, _RELEASE))
    findings = []
    if ran := _number(given.release):
        other = versions.units[selected[release != ran]]
        findings.append(contradicted("first page of another release", other))
    sizes = given.sizes[number] if given.sizes else {}
    if selected.size and "database" in sizes:
        last = rows == rows.max()
        wrong = last & (pages.astype(np.int64) * size != sizes["database"])
        findings.append(
            contradicted("first page of a database of another size", versions.units[selected[wrong]])
        )
    return findings


def _number(release: str) -> int | None:
    """Return the SQLITE_VERSION_NUMBER of a release; None where it has another form."""
    parts = re.fullmatch(r"([0-9]+)\.([0-9]{1,3})\.([0-9]{1,3})(\.[0-9]+)?", release)
    return int(parts[1]) * 1_000_000 + int(parts[2]) * 1000 + int(parts[3]) if parts else None


def _page_size(given: Evidence) -> int:
    """Return the page size in bytes. Raises FileError."""
    text = str(given.settings.get("page_size"))
    if text not in _PAGE_SIZES:
        raise FileError("config.json", "effective.page_size", text, ", ".join(_PAGE_SIZES))
    return int(text)


def _in_order(given: Evidence) -> bool:
    """Return whether each transaction is on the device before the next, so that a journal holds only one."""
    mode, synchronous = (given.settings.get(name) for name in ("journal_mode", "synchronous"))
    return mode in ("delete", "truncate") and synchronous != "off"


def _database(given: Evidence, versions: Versions, known: KnownPages) -> list[_Right]:
    """Identify database pages: by a frame or record, as a first page, or by rows that belong there."""
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


def _as_recorded(given: Evidence, pages: Versions, journal: Versions, records: rollback.Records) -> Finding:
    """Contradict pages that differ from the page's next record, if not written in between."""
    call = given.units.call[pages.units]
    number, size = pages.page + 1, call.size
    hashed = hashes(given.blocks.take(pages.row).view(np.uint64))
    recorded = given.units.call[journal.units[records.versions]]
    # search backwards in time: LastBefore of negated calls is the first after
    following = at(np.arange(recorded.size), LastBefore(records.pages, -recorded).event(number, -call - 1))
    again = LastBefore(number, -call).event(number, -call - 1)
    sooner = (again >= 0) & (call[again] <= at(recorded, following)) if size else np.zeros(0, bool)
    held = np.r_[hashes(records.contents), np.uint64(0)][following]
    other = (call >= 0) & (following >= 0) & ~sooner & (held != hashed)
    return contradicted("page that the next record has otherwise", pages.units[other])


def _shared_memory(given: Evidence) -> _Right:
    """Identify the header of the WAL index."""
    selected = given.units.of_file("shm")
    selected = selected[given.units.offset[selected] == 0]
    words = given.blocks.words(given.units.row[selected], 0, _INDEX_HEADER // 2, "<u4")
    twice = (words[:, :12] == words[:, 12:]).all(axis=1) & (words[:, 0] == _INDEX_VERSION)
    return _Right("header of a WAL's index", "shm", selected[twice])


def _mislabelled(given: Evidence, known: KnownPages, salts: np.ndarray, certain: Ints) -> list[Finding]:
    """Contradict units, except `certain` ones, with bytes of a SQLite file under another label.

    Skipped: a filesystem's journal, which has copies of any page, and temporary files, which are databases of
    their own or VACUUM's copy of one.
    """
    units = given.units
    may_hold_any = [LABELS.index(name) for name in ("filesystem journal", "temporary file")]
    selected = np.flatnonzero((units.row >= 0) & ~np.isin(units.label, may_hold_any))
    selected = selected[~np.isin(selected, certain)]
    pages = given.blocks.take(units.row[selected])
    words = pages.view(np.uint64)
    here, elsewhere = known.same(words, np.maximum(units.offset[selected], 0))
    begins = pages[:, :8].copy().view(">u8").astype(np.uint64)
    of_wal = (begins[:, 0] >> np.uint64(32)) == wal.MAGIC
    if salts.size:
        of_wal |= np.isin(words, salts.byteswap()).any(axis=1)
    # a frame that was written before its transaction was sealed is not among the certain ones
    holds = (units.label[selected] == LABELS.index("WAL")) & wal.aligned(units.offset[selected], known.size)
    matching = {
        "database page": (here | elsewhere | btree.titled(pages)) & ~holds,
        "WAL": of_wal,
        "rollback journal": begins[:, 0] == rollback.MAGIC,
    }
    return [
        contradicted(
            f"bytes of a {label} under another label",
            selected[matches & (units.label[selected] != LABELS.index(label))],
            unless_confirmed=True,
        )
        for label, matches in matching.items()
    ]
