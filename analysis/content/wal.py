"""Find the frames of SQLite's WAL in the written blocks, by salts and checksums, and by their logged calls.

https://www.sqlite.org/fileformat2.html#walformat. With s = (s0, s1) the checksum of two words x0, x1 is s' =
M s + (x0, x0 + x1), M = (1 1; 1 2), modulo 2^32. It can be computed backwards, from a frame's checksum to the
one before it, so that all frames are checked at once.

A frame's header begins with the page number, and has the log's salts (wal.c). vfs.csv has the page number for
the xWrite of each header.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.content.blocks import BLOCK, SECTOR, Blocks
from analysis.content.units import Evidence
from analysis.content.versions import ORDERS, Versions
from base.arrays import Ints, LastBefore, ints

HEADER, FRAME_HEADER = 32, 24
MAGIC = 0x377F0682  # the checksum's words are little-endian, as on every board
_ELSEWHERE = 1 << 16  # pages that are searched for misplaced frames


@dataclass(frozen=True)
class Frames:
    """Frames with a valid checksum, and the pages of the file that hold them."""

    pages: Ints  # database page of each
    contents: np.ndarray  # (n, page size / 8), 64-bit words
    salts: np.ndarray  # of all WALs
    confirmed: Ints  # places in the Versions
    elsewhere: Ints  # places in the Versions with a misplaced frame


@functools.cache
def _weights(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the factors of `count` pairs of words in (s0, s1), and M to the power of -count."""
    modulo = 1 << 32
    power, rows = ((1, 0), (0, 1)), []
    for _ in range(count):
        (a, b), (c, d) = power
        rows += [((a + b) % modulo, (c + d) % modulo), (b, d)]
        power = ((a + b) % modulo, (a + 2 * b) % modulo), ((c + d) % modulo, (c + 2 * d) % modulo)
    pairs = [rows[at : at + 2] for at in range(0, len(rows), 2)][::-1]
    (a, b), (c, d) = power
    inverse = np.array([[d, -b % modulo], [-c % modulo, a]], np.uint32)
    return np.array([row for pair in pairs for row in pair], np.uint32), inverse


def _sums(words: np.ndarray) -> np.ndarray:
    """Return the checksums, starting at 0, of rows of 32-bit words: (n, 2)."""
    factors, _ = _weights(words.shape[1] // 2)
    sums = [np.einsum("ij,j->i", words, factors[:, side], dtype=np.uint32) for side in range(2)]
    return np.stack(sums, axis=1)


def _before(final: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the checksums (n, 2) from which `words` lead to the final ones."""
    _, inverse = _weights(words.shape[1] // 2)
    left = final - _sums(words)
    return np.stack([left[:, 0] * row[0] + left[:, 1] * row[1] for row in inverse], axis=1)


def _key(salts: np.ndarray, frame: Ints, check: np.ndarray) -> np.ndarray:
    """Return (salts, frame number, checksum) as one number."""
    parts = (salts.astype(np.uint64), frame.astype(np.uint64), check.astype(np.uint64))
    factors = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
    key = np.zeros(salts.size, np.uint64)
    for part, factor in zip(parts, factors, strict=True):
        key = (key ^ part) * np.uint64(factor)
        key ^= key >> np.uint64(29)
    return key


def _pair(words: np.ndarray) -> np.ndarray:
    """Return pairs of 32-bit words as one number each."""
    return words[:, 0].astype(np.uint64) << np.uint64(32) | words[:, 1].astype(np.uint64)


@dataclass(frozen=True)
class _Candidates:
    """Bytes at places of frames, valid or not."""

    version: Ints
    frame: Ints
    salts: np.ndarray
    key: np.ndarray  # of the frame and its checksum
    before: np.ndarray  # the key of the frame before it, by the checksum that this one continues
    words: np.ndarray  # 64-bit

    def where(self, rows: np.ndarray) -> _Candidates:
        """Return some rows."""
        return _Candidates(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def _read(
    versions: Versions, which: Ints, page: Ints, frame: Ints, size: int, later: tuple[bool, bool]
) -> _Candidates:
    """Read the frames around some versions, each at its place in the file."""
    length = FRAME_HEADER + size
    kept, words = versions.words(which, page, HEADER + frame * length, length, "<u8", later)
    header = words[:, :3].copy().view(">u4").astype(np.uint32)
    # zeros have a valid checksum; a frame without salts gets its checksum at the commit (walRewriteChecksums)
    if not (salted := words[:, 1] != 0).all():
        kept, words, header = kept[salted], words[salted], header[salted]
    summed = np.concatenate([words[:, :1], words[:, 3:]], axis=1).view("<u4")
    seed = _before(header[:, 4:6], summed)
    frame, salts, check = frame[kept], _pair(header[:, 2:4]), _pair(header[:, 4:6])
    before = _key(salts, frame - 1, _pair(seed))
    return _Candidates(which[kept], frame, salts, _key(salts, frame, check), before, words)


def headers(words: np.ndarray) -> tuple[Ints, np.ndarray]:
    """Return which rows of eight 32-bit words are a WAL header, and the salts of each."""
    begins = np.flatnonzero(words[:, 0] == MAGIC)
    words = words[begins]
    true = (_sums(words[:, :6].byteswap()) == words[:, 6:8]).all(axis=1)
    return begins[true], _pair(words[true, 4:6])


def frames(versions: Versions, blocks: Blocks, size: int) -> Frames:
    """Return the frames of pages of `size` bytes."""
    length = FRAME_HEADER + size
    words = blocks.words(versions.row, 0, 8, ">u4").astype(np.uint32)
    begins, salts = headers(words)
    confirmed, mislaid = (begins[(versions.page[begins] == 0) == first] for first in (True, False))
    keys_so_far = [_key(salts, np.full(salts.size, -1), _pair(words[begins, 6:8]))]
    candidates: list[_Candidates] = []
    every = np.arange(versions.page.size)
    missing = np.setdiff1d(every, confirmed)
    # frames that begin in the page, then those that continue in it
    for step in (*range((BLOCK - 1) // length + 1), *range(-1, -2 - (length - 1) // BLOCK, -1)):
        for later in ORDERS:
            tried = every if step >= 0 and later == (False, True) else missing
            frame = -(-(versions.page[tried] * BLOCK - HEADER) // length) + step
            start, begin = HEADER + frame * length, versions.page[tried] * BLOCK
            fits = (frame >= 0) & (start < begin + BLOCK) & (start + length > begin)
            seen = _read(versions, tried[fits], versions.page[tried[fits]], frame[fits], size, later)
            keys_so_far.append(seen.key)
            candidates.append(seen)
            true = np.isin(seen.before, np.concatenate(keys_so_far))
            missing = np.setdiff1d(missing, seen.version[true])
    keys = np.concatenate(keys_so_far)
    valid = [seen.where(np.isin(seen.before, keys)) for seen in candidates]
    followed = np.concatenate([seen.before for seen in valid])
    known_frames = np.unique(
        np.concatenate([_key(seen.salts, seen.frame, seen.salts) for seen in candidates])
    )
    for seen in candidates:  # the log's first frame: its predecessor is unknown, so its successor decides
        lone = ~np.isin(_key(seen.salts, seen.frame - 1, seen.salts), known_frames) & (seen.frame > 0)
        valid.append(seen.where(lone & np.isin(seen.key, followed)))
    words = np.concatenate([seen.words for seen in valid])
    version = np.concatenate([seen.version for seen in valid])
    confirmed = np.union1d(confirmed, version)
    missing = np.setdiff1d(every, confirmed)
    salts = np.unique(np.concatenate([salts, *(seen.salts for seen in valid)]))
    return Frames(
        pages=words[:, :1].copy().view(">u4")[:, 0].astype(np.int64),
        contents=words[:, 3:],
        salts=salts,
        confirmed=confirmed,
        elsewhere=np.union1d(mislaid, _elsewhere(versions, missing, size, salts)),
    )


def _elsewhere(versions: Versions, missing: Ints, size: int, salts: np.ndarray) -> Ints:
    """Return the versions with a frame header where none can be: with the salts of the others."""
    missing = missing[:_ELSEWHERE]
    words = versions.blocks.take(versions.row[missing]).view(">u8").astype(np.uint64)
    row, word = np.nonzero(np.isin(words, salts))
    place = versions.page[missing[row]] * BLOCK + (word - 1) * 8 - HEADER
    return np.unique(missing[row[place % (FRAME_HEADER + size) != 0]])


def aligned(offset: Ints, size: int) -> np.ndarray:
    """Return which blocks of a WAL have a frame's page where a database has pages: at a multiple of its size.

    offset: of each block in the file.
    """
    part = min(size, BLOCK)
    since = offset[:, None] + np.arange(0, BLOCK, part) - HEADER - FRAME_HEADER
    return np.asarray((since % (FRAME_HEADER + size) % part == 0).any(axis=1))


_FRAMES = 28  # bits for a frame's number in a key


def other_pages(given: Evidence, of_wal: Versions, size: int) -> Ints:
    """Return the units with a frame header of another page than its last xWrite logged.

    size: bytes of a page. Skips headers with another xWrite before the unit's command was done, and headers
    of zeros, which were truncated.
    """
    written, length = given.written, FRAME_HEADER + size
    nothing = np.empty(0, np.int64)
    is_log = (pl.col("file").cast(pl.String) == "wal") & (pl.col("op").cast(pl.String) == "write")
    calls = written.calls.filter(is_log & pl.col("bytes").is_in([HEADER, FRAME_HEADER, size]).not_())
    logged = written.calls.filter(is_log & (pl.col("bytes") == FRAME_HEADER) & pl.col("page").is_not_null())
    if calls.height or not logged.height:
        return nothing  # headers written in two parts have no page number
    of_call = (ints(logged["inode"]) << _FRAMES) | ((ints(logged["offset"]) - HEADER) // length)
    ended, begun = (LastBefore(of_call, ints(logged[name])) for name in ("end_ns", "begin_ns"))
    page, blocks, units = ints(logged["page"]), given.blocks, of_wal.units
    begin, wrong = of_wal.page * BLOCK, [nothing]
    for step in range((BLOCK - 1) // length + 1):
        frame = -(-(begin - HEADER) // length) + step
        at = HEADER + frame * length - begin
        selected = np.flatnonzero((frame >= 0) & (at >= 0) & (at < BLOCK))
        key = (of_wal.inode[selected] << _FRAMES) | frame[selected]
        last = ended.event(key, written.queued[units[selected]])
        same = (last >= 0) & (last == begun.event(key, written.done[units[selected]]))
        selected, last = selected[same], last[same]
        sector = blocks.sectors[of_wal.row[selected], at[selected] // SECTOR]
        raw = blocks.log[sector[:, None], (at[selected] % SECTOR)[:, None] + np.arange(4)]
        number = np.ascontiguousarray(raw).view(">u4")[:, 0].astype(np.int64)
        wrong.append(units[selected[(number != 0) & (number != page[last])]])
    return np.concatenate(wrong)
