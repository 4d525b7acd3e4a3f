"""Find the page records of SQLite's rollback journal in the written blocks, by their checksums.

A record has a page's number, the page, and a checksum that begins with the nonce of the header before it. A
transaction with more pages than SQLite's cache has several headers. Each is at the first sector behind the
records that the one before it counts.

https://www.sqlite.org/fileformat2.html#the_rollback_journal. A record's checksum is pager_cksum of pager.c:
the nonce plus every 200th byte of the page, from its end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analysis.content.blocks import BLOCK, SECTORS, Blocks
from analysis.content.versions import ORDERS, Versions
from base.arrays import Bools, Ints

MAGIC = 0xD9D505F920A163D7
_STEP = 200  # bytes
_SECTOR = 512  # of a header, where a torn write cannot harm other sectors (setSectorSize of pager.c)
_REST = 0xFFFFFFFF  # number of records: all up to the end of the file
_PLACES = 31  # bits for a sector of a file
_ROWS = 32  # bits for a writing
_STRAYS = 64  # pages that are searched at so many other places of their file
# Which later header may belong to a page's records: the last one written up to the page, the next one, as
# the magic is written after the records, and those before, as a page may have several.
_STEPS = (0, 1, -1, -2)


@dataclass(frozen=True)
class Records:
    """Records with a valid checksum, and the pages of the file that hold them."""

    pages: Ints  # database page of each
    contents: np.ndarray  # (n, page size / 8), 64-bit words
    versions: Ints  # place in the Versions of each, where it was first written
    confirmed: Ints  # places in the Versions
    elsewhere: Ints  # places in the Versions with a record of another place


class _Headers(NamedTuple):
    """Headers with their magic."""

    version: Ints  # place in the Versions
    place: Ints  # in the file, bytes
    nonce: Ints
    follows: Bools  # whether the records of an earlier header end there
    pages: Ints  # of the database before the transaction


def records(versions: Versions, blocks: Blocks, size: int) -> Records:
    """Return the records of pages of `size` bytes."""
    headers = _headers(versions, blocks, size)
    nonces = np.unique(headers.nonce[headers.place == 0])
    begins = (headers.place % BLOCK == 0) & ~headers.follows
    header, header_nonces = headers.version[begins], headers.nonce[begins]
    elsewhere = header[np.isin(header_nonces, nonces) & (versions.page[header] > 0)]
    largest = int(headers.pages.max(initial=0))
    # the magic is written last, after the records were synced
    early, early_nonces = _early(versions, blocks, size, nonces)
    own_nonce = np.full(versions.page.size, -1)
    own_nonce[header] = header_nonces
    own_nonce[early] = early_nonces
    header = np.unique(np.concatenate([header, headers.version[headers.follows], early]))
    every, length = np.arange(versions.page.size), size + 8
    missing = np.setdiff1d(every, header)
    version, words = np.empty(0, np.int64), np.empty((0, length // 4), np.uint32)
    for begin, own in _begins(versions, headers):
        for step in (*range((BLOCK - 1) // length + 1), *range(-1, -2 - (length - 1) // BLOCK, -1)):
            for later in ORDERS:
                tried = every if step >= 0 and later == (False, True) else missing
                tried = tried[begin[tried] >= 0]
                of, read = _read(versions, tried, versions.page[tried], begin[tried], step, size, later)
                nonce = _nonce(versions.inode[of], _nonces(read))
                true = _is_possible(read, largest) & (
                    np.isin(nonce, nonces) if own is None else nonce == own[of]
                )
                # the rest of a record may be of another transaction; a nonce in the page itself decides
                true &= (own_nonce[of] < 0) | (own_nonce[of] == nonce)
                version, words = np.r_[version, of[true]], np.concatenate([words, read[true]])
                missing = np.setdiff1d(missing, of[true])
    strays = _strays(versions, missing, np.unique(header_nonces), largest, size)
    number = words[:, 0].byteswap().astype(np.int64)
    first = _first(versions, version, _nonce(versions.inode[version], _nonces(words)), number)
    return Records(
        pages=number[first],
        contents=np.ascontiguousarray(words[first, 1:-1]).view("<u8"),
        versions=version[first],
        confirmed=np.setdiff1d(np.union1d(header, version), elsewhere),
        elsewhere=np.union1d(elsewhere, strays),
    )


def _headers(versions: Versions, blocks: Blocks, size: int) -> _Headers:
    """Return the headers with their magic."""
    rows = list[np.ndarray]()
    for sector in range(SECTORS):
        fields = blocks.words(versions.row, sector * _SECTOR, 7, ">u4").astype(np.int64)
        found = np.flatnonzero(
            (fields[:, 0] == MAGIC >> 32)
            & (fields[:, 1] == MAGIC & _REST)
            & (fields[:, 5] == _SECTOR)
            & (fields[:, 6] == size)
        )
        place = versions.page[found] * BLOCK + sector * _SECTOR
        rows.append(np.stack([found, place, *fields[found, 2:5].T]))
    version, place, count, nonce, pages = np.concatenate(rows, axis=1)
    inode, nonce = versions.inode[version], _nonce(versions.inode[version], nonce)
    # of a journal that is never synced, a header counts all records up to the file's end
    end = np.where(count < _REST, place + _SECTOR + count * (size + 8), -_SECTOR)
    end = -(-end // _SECTOR) * _SECTOR
    follows = (place > 0) & np.isin(_placed(inode, place), _placed(inode, end)[end > 0])
    return _Headers(version, place, nonce, follows, pages)


def _begins(versions: Versions, headers: _Headers) -> Iterator[tuple[Ints, np.ndarray | None]]:
    """Yield where the records may begin that each version has, -1: nowhere; and their nonce, None: of a first
    header."""
    yield np.full(versions.page.size, _SECTOR), None
    later = np.flatnonzero(headers.follows)
    row, place = versions.row[headers.version[later]], headers.place[later]
    later = later[np.lexsort((place, row, versions.inode[headers.version[later]]))]
    # each where it was first written
    _, first = np.unique(np.stack([headers.place, headers.nonce])[:, later], axis=1, return_index=True)
    later = later[np.sort(first)]
    of = headers.version[later]
    key = versions.inode[of] << _ROWS | versions.row[of]
    last = np.searchsorted(key, versions.inode << _ROWS | versions.row, side="right") - 1
    for step in _STEPS if later.size else ():
        nth = np.clip(last + step, 0, later.size - 1)
        same = (nth == last + step) & (versions.inode[of[nth]] == versions.inode)
        header = later[nth]
        yield np.where(same, headers.place[header] + _SECTOR, -1), headers.nonce[header]


def _first(versions: Versions, version: Ints, nonce: Ints, page: Ints) -> Ints:
    """Return which records are the first of their transaction and page: a page of the file that was not full
    is written again with the next ones."""
    order = np.argsort(versions.row[version], kind="stable")
    _, first = np.unique(np.stack([nonce, page])[:, order], axis=1, return_index=True)
    return np.sort(order[first])


def _read(
    versions: Versions, which: Ints, page: Ints, begin: Ints, step: int, size: int, later: tuple[bool, bool]
) -> tuple[Ints, np.ndarray]:
    """Read the record that begins in a page, or `step` records before or after it.

    page: where in the file each version is assumed to be. begin: of the first record after a header. Returns
    (versions, 32-bit words).
    """
    length = size + 8
    record = -(-(page * BLOCK - begin) // length) + step
    start = begin + record * length
    fits = (record >= 0) & (start < page * BLOCK + BLOCK) & (start + length > page * BLOCK)
    which, page, start = which[fits], page[fits], start[fits]
    kept, words = versions.words(which, page, start, length, "<u4", later)
    return which[kept], words


def _is_possible(words: np.ndarray, largest: int) -> Bools:
    """Return which records have a page number of the database."""
    number = words[:, 0].byteswap()
    return np.asarray((number > 0) & (number <= largest))


def _strays(versions: Versions, missing: Ints, nonces: np.ndarray, largest: int, size: int) -> Ints:
    """Return the versions that hold records if they are assumed at another page of their file.

    A checksum adds few bytes, so another page often has the same. A record of a page smaller than a block is
    within a block. Where they are equal, both records with a part of the block must be valid. A record of a
    larger page has most of its bytes from the other place, so there are none.
    """
    missing, strays = missing[: _STRAYS if size <= BLOCK else 0], []
    begin = np.full(missing.size, _SECTOR)
    for page in np.unique(versions.page)[:_STRAYS].tolist():
        other = versions.page[missing] != page
        others, first = missing[other], begin[other]
        fit = others
        for step in (0,) if size < BLOCK else (0, -1):
            valid = [np.empty(0, np.int64)]
            for later in ORDERS:
                of, words = _read(versions, others, np.full(others.size, page), first, step, size, later)
                known = np.isin(_nonce(versions.inode[of], _nonces(words)), nonces)
                valid.append(of[known & _is_possible(words, largest)])
            fit = np.intersect1d(fit, np.concatenate(valid))
        strays.append(fit)
    return np.unique(np.concatenate(strays)) if strays else np.empty(0, np.int64)


def _early(versions: Versions, blocks: Blocks, size: int, nonces: np.ndarray) -> tuple[Ints, Ints]:
    """Return the versions that begin with a header without magic but with a known nonce, and their nonces."""
    first = np.flatnonzero(versions.page == 0)
    fields = blocks.words(versions.row[first], 0, 7, ">u4").astype(np.uint32)
    true = (fields[:, :2] == 0).all(axis=1) & (fields[:, 5] == _SECTOR) & (fields[:, 6] == size)
    nonce = _nonce(versions.inode[first], fields[:, 3])
    true &= np.isin(nonce, nonces)
    return first[true], nonce[true]


def _placed(inode: Ints, place: Ints) -> Ints:
    """Return a file and a sector of it as one number."""
    return inode << _PLACES | place // _SECTOR


def _nonces(words: np.ndarray) -> np.ndarray:
    """Return the nonces that make the checksums of records valid."""
    return np.asarray(words[:, -1].byteswap() - _sum(words[:, 1:-1]))


def _nonce(inode: Ints, nonce: np.ndarray) -> Ints:
    """Return a journal's inode and nonce as one number."""
    return inode << 32 | nonce.astype(np.int64)


def _sum(words: np.ndarray) -> np.ndarray:
    """Return the sum of every 200th byte of pages, from the end."""
    size = words.shape[1] * 4
    total = np.zeros(words.shape[0], np.uint32)
    for byte in range(size - _STEP, 0, -_STEP):
        total += (words[:, byte // 4] >> np.uint32(8 * (byte % 4))) & np.uint32(0xFF)
    return total
