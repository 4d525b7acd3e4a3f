"""Checkpoints of a log-structured filesystem, and what it knows of its segments.

Whose reader says what the numbers are of; all are little-endian.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

from analysis.content.blocks import BLOCK, Blocks, every, some
from analysis.content.nodes import SEGMENT, Latest, Mapped, at_time
from base.arrays import Bools, Ints

SUPER_MAGIC = 0xF2F52010
_COMPACT = 4  # CP_COMPACT_SUM_FLAG
NAT_ENTRIES, _NAT = 455, 9
_SIT_ENTRIES, _SIT, _VALID = 55, 74, 0x3FF  # of vblocks: the count of valid blocks
_SUMMARIES, _SUMMARY = 512, 7
_JOURNAL, _NAT_JOURNAL, _SIT_JOURNAL = 507, 13, 78  # bytes: of either journal, of an entry of each
# summaries in a block of compact ones before its footer: in the first behind the journals, and in others
_FIRST, _FULL = (BLOCK - 5 - 2 * _JOURNAL) // _SUMMARY, (BLOCK - 5) // _SUMMARY
_ORPHANS = 1020  # inodes in a block of them


class Checkpoints(NamedTuple):
    """Writings of checkpoint blocks whose CRC holds."""

    row: Ints
    block: Ints
    version: np.ndarray  # as nodes have it, with the CRC in the upper half
    total: Ints  # blocks of the pack
    summaries: Ints  # the first of them in it
    compact: Bools
    open: list[Ints]  # blocks, from the main area's first, that were written of the segments open for data


def checkpoints(blocks: Blocks, area: tuple[int, int]) -> Checkpoints:
    """Find the checkpoints in their area [begin, end)."""
    row = np.flatnonzero((blocks.number >= area[0]) & (blocks.number < area[1]))
    place = blocks.words(row, 164, 1, "<u4")[:, 0]
    row = row[(place > 192) & (place <= BLOCK - 4)]
    pages = blocks.take(row)
    place, crc = place[(place > 192) & (place <= BLOCK - 4)].tolist(), np.empty(row.size, np.uint32)
    said = np.empty(row.size, np.uint32)
    for one, at in enumerate(place):
        # f2fs_crc32: seeded with the magic number, nothing inverted
        crc[one] = zlib.crc32(pages[one, :at].tobytes(), SUPER_MAGIC ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
        said[one] = int.from_bytes(pages[one, at : at + 4].tobytes(), "little")
    true = crc == said
    words = pages[:, :192].copy().view("<u4").astype(np.int64)
    version = pages[:, :8].copy().view("<u8")[:, 0] & np.uint64(0xFFFFFFFF) | crc.astype(np.uint64) << 32
    flags, total, first = (words[:, at] for at in (33, 34, 35))
    return Checkpoints(
        row=row[true],
        block=blocks.number[row[true]],
        version=version[true],
        total=total[true],
        summaries=first[true],
        compact=(flags[true] & _COMPACT) > 0,
        open=_open(pages[true]),
    )


def torn(blocks: Blocks, found: Checkpoints) -> Bools:
    """Return which checkpoints are not at the head or the foot of a pack that was written from one to the
    other; or do not follow the one before them."""
    result = np.ones(found.row.size, bool)
    before = None
    for head in np.flatnonzero(found.block % SEGMENT == 0).tolist():
        blocks_of = found.block[head] + np.arange(found.total[head])
        feet = np.flatnonzero((found.version == found.version[head]) & (found.block == blocks_of[-1]))
        for foot in feet.tolist():
            written = blocks.number[found.row[head] : found.row[foot] + 1]
            result[[head, foot]] = not np.isin(blocks_of, written).all()
        number = int(found.version[head]) & 0xFFFFFFFF
        result[head] |= before is not None and number != before + 1
        before = number
    return result


def _open(pages: np.ndarray) -> list[Ints]:
    """Return what checkpoints say of the segments open for data: cur_data_segno and cur_data_blkoff."""
    numbers = pages[:, 84:96].copy().view("<u4").astype(np.int64)
    written = pages[:, 116:122].copy().view("<u2").astype(np.int64)
    return [
        np.concatenate([one * SEGMENT + np.arange(count) for one, count in zip(*both, strict=True)])
        for both in zip(numbers.tolist(), written.tolist(), strict=True)
    ]


def _bits(maps: np.ndarray) -> Ints:
    """Return how many bits are set in each row of bytes."""
    counted: Ints = np.unpackbits(maps, axis=1).sum(axis=1, dtype=np.int64)
    return counted


def _valid(entries: np.ndarray) -> Bools:
    """Return which entries (n, 74) of segments have as many valid blocks as their map."""
    count = entries[:, :2].copy().view("<u2")[:, 0].astype(np.int64) & _VALID
    found: Bools = count == _bits(entries[:, 2:66])
    return found


def sit(pages: np.ndarray) -> Bools:
    """Return which blocks hold entries of segments, some of them with valid blocks."""
    entries = pages[:, : _SIT_ENTRIES * _SIT].reshape(-1, _SIT)
    right, used = (each.reshape(-1, _SIT_ENTRIES) for each in (_valid(entries), some(entries[:, 2:66])))
    return every(right) & some(used)


def nat(pages: np.ndarray, row: Ints, first: Ints, last: Latest) -> Bools:
    """Return which blocks say of nodes where they are. `first` is the first node's number of each."""
    entries = pages[:, : NAT_ENTRIES * _NAT].reshape(-1, _NAT)
    block = entries[:, 5:9].copy().view("<u4")[:, 0].astype(np.int64)
    number = (first[:, None] + np.arange(NAT_ENTRIES)).ravel()
    there = last.before(number, np.repeat(row, NAT_ENTRIES))
    right = ((there >= 0) & (there == block)).reshape(-1, NAT_ENTRIES)
    return some(right)


def summaries(pages: np.ndarray, row: Ints, segment: Ints, last: Latest, table: Mapped) -> Bools:
    """Return which blocks say of a segment's blocks which node's they are. `segment` is the first block."""
    entries = pages[:, : _SUMMARIES * _SUMMARY].reshape(-1, _SUMMARY)
    block = (segment[:, None] + np.arange(_SUMMARIES)).ravel()
    right = _true(entries, block, np.repeat(row, _SUMMARIES), last, table)
    return some(right.reshape(-1, _SUMMARIES))


def open_summaries(
    pages: np.ndarray, row: Ints, nth: Ints, opened: list[Ints], last: Latest, table: Mapped
) -> Bools:
    """Return which of the blocks of compact summaries, the nth of their pack, say so of the blocks that
    were written of the segments open for data."""
    right = np.zeros(row.size, bool)
    for one, written in enumerate(opened):
        before = 0 if nth[one] == 0 else _FIRST + (int(nth[one]) - 1) * _FULL
        block = written[before : before + (_FIRST if nth[one] == 0 else _FULL)]
        begin = 2 * _JOURNAL if nth[one] == 0 else 0
        entries = pages[one, begin : begin + block.size * _SUMMARY].reshape(-1, _SUMMARY)
        right[one] = _true(entries, block, np.full(block.size, row[one]), last, table).any()
    return right


def _true(entries: np.ndarray, block: Ints, when: Ints, last: Latest, table: Mapped) -> Bools:
    """Return which entries (n, 7) name the node that a block was at a time, or that had it, and in which
    slot."""
    number = entries[:, :4].copy().view("<u4")[:, 0].astype(np.int64)
    slot = entries[:, 5:7].copy().view("<u2")[:, 0].astype(np.int64)
    right: Bools = (last.before(number, when) == block) & (number > 0)
    place, _ = at_time(table, block, when, when)
    known = np.flatnonzero(place >= 0)
    right[known] |= (table.node[place[known]] == number[known]) & (table.slot[place[known]] == slot[known])
    return right


def journals(pages: np.ndarray, row: Ints, compact: Bools, last: Latest) -> Bools:
    """Return which blocks of a pack hold the journals of NAT and SIT that they should: entries of nodes
    that are where they say, or of segments with as many valid blocks as their map."""
    right = np.zeros(row.size, bool)
    for one in range(row.size):
        at = (0, _JOURNAL) if compact[one] else (_SUMMARIES * _SUMMARY,) * 2
        nats, sits = (int(pages[one, place : place + 2].view("<u2")[0]) for place in at)
        if 0 < nats <= (_JOURNAL - 2) // _NAT_JOURNAL:
            entries = pages[one, at[0] + 2 : at[0] + 2 + nats * _NAT_JOURNAL].reshape(-1, _NAT_JOURNAL)
            number, block = (entries[:, a : a + 4].copy().view("<u4")[:, 0].astype(np.int64) for a in (0, 9))
            there = last.before(number, np.full(nats, row[one]))
            right[one] |= bool(((there >= 0) & (there == block)).any())
        if 0 < sits <= (_JOURNAL - 2) // _SIT_JOURNAL:
            entries = pages[one, at[1] + 2 : at[1] + 2 + sits * _SIT_JOURNAL].reshape(-1, _SIT_JOURNAL)
            right[one] |= bool(_valid(entries[:, 4:]).all())
    return right


def orphans(pages: np.ndarray) -> Bools:
    """Return which blocks list inodes that nobody has a name of: as many as they say."""
    words = pages.view("<u4")
    count = words[:, _ORPHANS + 2].astype(np.int64)
    used = (words[:, :_ORPHANS] > 0).sum(axis=1)
    found: Bools = (count > 0) & (count == used)
    return found


def pack_of(found: Checkpoints, block: Ints, row: Ints) -> Ints:
    """Return the checkpoint that each block of a pack belongs to: the nearest writing of its pack's, -1 if
    there is none."""
    result = np.full(block.size, -1)
    for half in np.unique(block // SEGMENT).tolist():
        own = np.flatnonzero(found.block // SEGMENT == half)
        asked = np.flatnonzero(block // SEGMENT == half)
        if own.size:
            after = np.searchsorted(found.row[own], row[asked])
            near = [own[np.clip(after + step, 0, own.size - 1)] for step in (-1, 0)]
            closer = np.abs(found.row[near[1]] - row[asked]) <= np.abs(found.row[near[0]] - row[asked])
            result[asked] = np.where(closer, near[1], near[0])
    return result
