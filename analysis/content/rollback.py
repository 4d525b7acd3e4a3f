"""SQLite's rollback journal: header, and records of pages by the header's nonce.

https://www.sqlite.org/fileformat2.html#the_rollback_journal; the checksum of a record is pager_cksum of
pager.c: the nonce and every 200th byte of the page, from its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.content.blocks import BLOCK, Blocks
from analysis.content.versions import Versions, orders
from analysis.ledger.arrays import Ints

_MAGIC = 0xD9D505F920A163D7
_STEP = 200  # bytes
_SECTOR = 512  # of a header, where the filesystem overwrites without harm (setSectorSize of pager.c)


@dataclass(frozen=True)
class Records:
    """Records whose checksum holds, and what a page of the file showed."""

    pages: Ints  # database page of each
    contents: np.ndarray  # (n, page size / 8), 64-bit words
    times: Ints
    confirmed: Ints  # places in the Versions
    elsewhere: Ints


def records(versions: Versions, blocks: Blocks, size: int) -> Records:
    """Find the records of pages of `size` bytes."""
    header, begins = _headers(versions, blocks)
    first = header[versions.page[header] == 0]
    nonces = np.unique(_nonce(versions.inode[first], begins[versions.page[header] == 0, 1]))
    own = np.isin(_nonce(versions.inode[header], begins[:, 1]), nonces)
    elsewhere = header[own & (versions.page[header] != 0)]
    largest = int(begins[:, 2].max(initial=0))
    # the magic is written last, when the records were synced
    early = _early(versions, blocks, size, nonces)
    header = np.union1d(header, early)
    length = size + 8
    missing = np.setdiff1d(np.arange(versions.page.size), header)
    every = np.arange(versions.page.size)
    found: list[tuple[Ints, np.ndarray]] = []
    for step in (*range((BLOCK - 1) // length + 1), *range(-1, -2 - (length - 1) // BLOCK, -1)):
        for later in orders():
            asked = every if step >= 0 and later == (False, True) else missing
            record = -(-(versions.page[asked] * BLOCK - _SECTOR) // length) + step
            fits = (record >= 0) & (_SECTOR + record * length < versions.page[asked] * BLOCK + BLOCK)
            asked, start = asked[fits], _SECTOR + record[fits] * length
            kept, words = versions.words(asked, versions.page[asked], start, length, "<u4", later)
            version = asked[kept]
            number = words[:, 0].byteswap().astype(np.int64)
            nonce = words[:, -1].byteswap() - _sum(words[:, 1:-1])
            true = np.isin(_nonce(versions.inode[version], nonce), nonces)
            true &= (number > 0) & (number <= largest)
            found.append((version[true], words[true]))
            missing = np.setdiff1d(missing, version[true])
    version = np.concatenate([of for of, _ in found])
    words = np.concatenate([text for _, text in found])
    return Records(
        pages=words[:, 0].byteswap().astype(np.int64),
        contents=np.ascontiguousarray(words[:, 1:-1]).view("<u8"),
        times=blocks.time[versions.row[version]],
        confirmed=np.setdiff1d(np.union1d(header, version), elsewhere),
        elsewhere=elsewhere,
    )


def _headers(versions: Versions, blocks: Blocks) -> tuple[Ints, np.ndarray]:
    """Return (versions that begin with a journal's header, its fields: records, nonce, pages, ...)."""
    magic = blocks.words(versions.row, 0, 1, ">u8")[:, 0] == _MAGIC
    found = np.flatnonzero(magic)
    return found, blocks.words(versions.row[found], 8, 5, ">u4").astype(np.uint32)


def _early(versions: Versions, blocks: Blocks, size: int, nonces: np.ndarray) -> Ints:
    """Return the versions that begin with a header without its magic, whose nonce is known otherwise."""
    first = np.flatnonzero(versions.page == 0)
    fields = blocks.words(versions.row[first], 0, 7, ">u4").astype(np.uint32)
    true = (fields[:, :2] == 0).all(axis=1) & (fields[:, 5] == _SECTOR) & (fields[:, 6] == size)
    true &= np.isin(_nonce(versions.inode[first], fields[:, 3]), nonces)
    found: Ints = first[true]
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
