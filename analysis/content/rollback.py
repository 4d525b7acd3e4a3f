"""SQLite's rollback journal: header, and records of pages by the header's nonce.

https://www.sqlite.org/fileformat2.html#the_rollback_journal; the checksum of a record is pager_cksum of
pager.c: the nonce and every 200th byte of the page, from its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.content.blocks import BLOCK, Blocks
from analysis.content.versions import Versions, orders
from base.arrays import Bools, Ints

MAGIC = 0xD9D505F920A163D7
_STEP = 200  # bytes
_SECTOR = 512  # of a header, where the filesystem overwrites without harm (setSectorSize of pager.c)


_STRAYS = 64  # pages that are looked for in this many other places of their file


@dataclass(frozen=True)
class Records:
    """Records whose checksum holds, and what a page of the file showed."""

    pages: Ints  # database page of each
    contents: np.ndarray  # (n, page size / 8), 64-bit words
    versions: Ints  # the place in the Versions where each was found
    confirmed: Ints  # places in the Versions
    elsewhere: Ints


def records(versions: Versions, blocks: Blocks, size: int) -> Records:
    """Find the records of pages of `size` bytes."""
    header, begins = _headers(versions, blocks)
    all_nonces = np.unique(_nonce(versions.inode[header], begins[:, 1]))
    first = header[versions.page[header] == 0]
    nonces = np.unique(_nonce(versions.inode[first], begins[versions.page[header] == 0, 1]))
    own = np.isin(_nonce(versions.inode[header], begins[:, 1]), nonces)
    elsewhere = header[own & (versions.page[header] != 0)]
    largest = int(begins[:, 2].max(initial=0))
    # the magic is written last, when the records were synced
    early, its = _early(versions, blocks, size, nonces)
    own_nonce = np.full(versions.page.size, -1)
    own_nonce[header] = _nonce(versions.inode[header], begins[:, 1])
    own_nonce[early] = its
    header = np.union1d(header, early)
    missing = np.setdiff1d(np.arange(versions.page.size), header)
    every, length = np.arange(versions.page.size), size + 8
    version, words = np.empty(0, np.int64), np.empty((0, length // 4), np.uint32)
    for step in (*range((BLOCK - 1) // length + 1), *range(-1, -2 - (length - 1) // BLOCK, -1)):
        for later in orders():
            asked = every if step >= 0 and later == (False, True) else missing
            of, read = _read(versions, asked, versions.page[asked], step, size, later)
            true = _holds(versions, of, read, nonces, largest)
            # the rest of a record may be of another transaction; where the page says which it is, that counts
            nonce = _nonce(versions.inode[of], _nonces(read))
            true &= (own_nonce[of] < 0) | (own_nonce[of] == nonce)
            version, words = np.r_[version, of[true]], np.concatenate([words, read[true]])
            missing = np.setdiff1d(missing, of[true])
    strays = _strays(versions, missing, all_nonces, largest, size)
    return Records(
        pages=words[:, 0].byteswap().astype(np.int64),
        contents=np.ascontiguousarray(words[:, 1:-1]).view("<u8"),
        versions=version,
        confirmed=np.setdiff1d(np.union1d(header, version), elsewhere),
        elsewhere=np.union1d(elsewhere, strays),
    )


def _read(
    versions: Versions, which: Ints, page: Ints, step: int, size: int, later: tuple[bool, bool]
) -> tuple[Ints, np.ndarray]:
    """Read the record that begins in a page, or so many before or behind that one, taking versions to be
    at a page of their file. Returns (versions, 32-bit words)."""
    length = size + 8
    record = -(-(page * BLOCK - _SECTOR) // length) + step
    start = _SECTOR + record * length
    fits = (record >= 0) & (start < page * BLOCK + BLOCK) & (start + length > page * BLOCK)
    which, page, start = which[fits], page[fits], start[fits]
    kept, words = versions.words(which, page, start, length, "<u4", later)
    return which[kept], words


def _holds(versions: Versions, which: Ints, words: np.ndarray, nonces: np.ndarray, largest: int) -> Bools:
    """Return which records have the checksum of a known nonce of their file."""
    number = words[:, 0].byteswap().astype(np.int64)
    found: Bools = np.isin(_nonce(versions.inode[which], _nonces(words)), nonces)
    return found & (number > 0) & (number <= largest)


def _strays(versions: Versions, missing: Ints, nonces: np.ndarray, largest: int, size: int) -> Ints:
    """Return the versions that have a record if they are taken to be at another page of their file."""
    missing, found = missing[:_STRAYS], []
    for page in np.unique(versions.page)[:_STRAYS].tolist():
        asked = missing[versions.page[missing] != page]
        for later in orders():
            of, words = _read(versions, asked, np.full(asked.size, page), 0, size, later)
            found.append(of[_holds(versions, of, words, nonces, largest)])
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)


def _headers(versions: Versions, blocks: Blocks) -> tuple[Ints, np.ndarray]:
    """Return (versions that begin with a journal's header, its fields: records, nonce, pages, ...)."""
    magic = blocks.words(versions.row, 0, 1, ">u8")[:, 0] == MAGIC
    found = np.flatnonzero(magic)
    return found, blocks.words(versions.row[found], 8, 5, ">u4").astype(np.uint32)


def _early(versions: Versions, blocks: Blocks, size: int, nonces: np.ndarray) -> tuple[Ints, Ints]:
    """Return the versions that begin with a header without its magic, whose nonce is known otherwise, and
    these nonces."""
    first = np.flatnonzero(versions.page == 0)
    fields = blocks.words(versions.row[first], 0, 7, ">u4").astype(np.uint32)
    true = (fields[:, :2] == 0).all(axis=1) & (fields[:, 5] == _SECTOR) & (fields[:, 6] == size)
    nonce = _nonce(versions.inode[first], fields[:, 3])
    true &= np.isin(nonce, nonces)
    return first[true], nonce[true]


def _nonces(words: np.ndarray) -> np.ndarray:
    """Return the nonces by which the checksums of records are right."""
    found: np.ndarray = words[:, -1].byteswap() - _sum(words[:, 1:-1])
    return found


def _nonce(inode: Ints, nonce: np.ndarray) -> Ints:
    """Return one number for a journal's inode and nonce."""
    return inode << 32 | nonce.astype(np.int64)


def _sum(words: np.ndarray) -> np.ndarray:
    """Return the sum of every 200th byte of pages, from the end."""
    size = words.shape[1] * 4
    total = np.zeros(words.shape[0], np.uint32)
    for byte in range(size - _STEP, 0, -_STEP):
        total += (words[:, byte // 4] >> np.uint32(8 * (byte % 4))) & np.uint32(0xFF)
    return total
