"""Find the page records of SQLite's rollback journal in the written blocks, by their checksums.

A record has a page's number, the page, and a checksum that begins with the nonce of the journal's header.

https://www.sqlite.org/fileformat2.html#the_rollback_journal. A record's checksum is pager_cksum of pager.c:
the nonce plus every 200th byte of the page, from its end.
"""

from dataclasses import dataclass

import numpy as np

from analysis.content.blocks import BLOCK, Blocks
from analysis.content.versions import ORDERS, Versions
from base.arrays import Bools, Ints

MAGIC = 0xD9D505F920A163D7
_STEP = 200  # bytes
_SECTOR = 512  # of a header, where a torn write cannot harm other sectors (setSectorSize of pager.c)
_STRAYS = 64  # pages that are searched at so many other places of their file


@dataclass(frozen=True)
class Records:
    """Records with a valid checksum, and the pages of the file that hold them."""

    pages: Ints  # database page of each
    contents: np.ndarray  # (n, page size / 8), 64-bit words
    versions: Ints  # place in the Versions of each
    confirmed: Ints  # places in the Versions
    elsewhere: Ints  # places in the Versions with a record of another place


def records(versions: Versions, blocks: Blocks, size: int) -> Records:
    """Return the records of pages of `size` bytes."""
    header = np.flatnonzero(blocks.words(versions.row, 0, 1, ">u8")[:, 0] == MAGIC)
    # after the magic: number of records, nonce, pages of the database
    begins = blocks.words(versions.row[header], 8, 3, ">u4").astype(np.uint32)
    header_nonces = _nonce(versions.inode[header], begins[:, 1])
    is_first = versions.page[header] == 0
    nonces = np.unique(header_nonces[is_first])
    elsewhere = header[np.isin(header_nonces, nonces) & ~is_first]
    largest = int(begins[:, 2].max(initial=0))
    # the magic is written last, after the records were synced
    early, early_nonces = _early(versions, blocks, size, nonces)
    own_nonce = np.full(versions.page.size, -1)
    own_nonce[header] = header_nonces
    own_nonce[early] = early_nonces
    header = np.union1d(header, early)
    missing = np.setdiff1d(np.arange(versions.page.size), header)
    every, length = np.arange(versions.page.size), size + 8
    version, words = np.empty(0, np.int64), np.empty((0, length // 4), np.uint32)
    for step in (*range((BLOCK - 1) // length + 1), *range(-1, -2 - (length - 1) // BLOCK, -1)):
        for later in ORDERS:
            tried = every if step >= 0 and later == (False, True) else missing
            of, read = _read(versions, tried, versions.page[tried], step, size, later)
            true = _holds(versions, of, read, nonces, largest)
            # the rest of a record may be of another transaction; a nonce in the page itself decides
            nonce = _nonce(versions.inode[of], _nonces(read))
            true &= (own_nonce[of] < 0) | (own_nonce[of] == nonce)
            version, words = np.r_[version, of[true]], np.concatenate([words, read[true]])
            missing = np.setdiff1d(missing, of[true])
    strays = _strays(versions, missing, np.unique(header_nonces), largest, size)
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
    """Read the record that begins in a page, or `step` records before or after it.

    page: where in the file each version is assumed to be. Returns (versions, 32-bit words).
    """
    length = size + 8
    record = -(-(page * BLOCK - _SECTOR) // length) + step
    start = _SECTOR + record * length
    fits = (record >= 0) & (start < page * BLOCK + BLOCK) & (start + length > page * BLOCK)
    which, page, start = which[fits], page[fits], start[fits]
    kept, words = versions.words(which, page, start, length, "<u4", later)
    return which[kept], words


def _holds(versions: Versions, which: Ints, words: np.ndarray, nonces: np.ndarray, largest: int) -> Bools:
    """Return which records have a valid checksum with a nonce of their file, and a possible page number."""
    number = words[:, 0].byteswap().astype(np.int64)
    valid: Bools = np.isin(_nonce(versions.inode[which], _nonces(words)), nonces)
    return valid & (number > 0) & (number <= largest)


def _strays(versions: Versions, missing: Ints, nonces: np.ndarray, largest: int, size: int) -> Ints:
    """Return the versions that hold a record if they are assumed at another page of their file."""
    missing, strays = missing[:_STRAYS], []
    for page in np.unique(versions.page)[:_STRAYS].tolist():
        others = missing[versions.page[missing] != page]
        for later in ORDERS:
            of, words = _read(versions, others, np.full(others.size, page), 0, size, later)
            strays.append(of[_holds(versions, of, words, nonces, largest)])
    return np.unique(np.concatenate(strays)) if strays else np.empty(0, np.int64)


def _early(versions: Versions, blocks: Blocks, size: int, nonces: np.ndarray) -> tuple[Ints, Ints]:
    """Return the versions that begin with a header without magic but with a known nonce, and their nonces."""
    first = np.flatnonzero(versions.page == 0)
    fields = blocks.words(versions.row[first], 0, 7, ">u4").astype(np.uint32)
    true = (fields[:, :2] == 0).all(axis=1) & (fields[:, 5] == _SECTOR) & (fields[:, 6] == size)
    nonce = _nonce(versions.inode[first], fields[:, 3])
    true &= np.isin(nonce, nonces)
    return first[true], nonce[true]


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
