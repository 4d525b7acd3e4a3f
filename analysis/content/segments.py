"""Verify the checkpoint packs and segment tables (SIT, NAT, summaries) that F2FS wrote, by their entries.

All numbers are little-endian. Their source is named in the filesystem's module.
"""

import zlib
from typing import NamedTuple

import numpy as np

from analysis.content.blocks import BLOCK, Blocks, every, some
from analysis.content.nodes import SEGMENT, Latest, Mapped, at_time
from base.arrays import Bools, Ints

SUPER_MAGIC = 0xF2F52010
_COMPACT = 4  # CP_COMPACT_SUM_FLAG
NAT_ENTRIES, _NAT = 455, 9
_SIT_ENTRIES, _SIT, _VALID = 55, 74, 0x3FF  # _VALID: bits of vblocks that count valid blocks
_SUMMARIES, _SUMMARY = 512, 7
_JOURNAL, _NAT_JOURNAL, _SIT_JOURNAL = 507, 13, 78  # bytes: of each journal, and of an entry of each
# compact summaries before a block's footer: in the first block, after the journals, and in others
_FIRST, _FULL = (BLOCK - 5 - 2 * _JOURNAL) // _SUMMARY, (BLOCK - 5) // _SUMMARY
_ORPHANS = 1020  # inodes per block


class Checkpoints(NamedTuple):
    """Writings of checkpoint blocks with a valid CRC."""

    row: Ints
    block: Ints
    version: np.ndarray  # as in nodes, with the CRC in the upper half
    total: Ints  # blocks of the pack
    summaries: Ints  # block of the first summary in the pack
    compact: Bools
    open: list[Ints]  # written blocks of the open data segments, relative to the main area


def checkpoints(blocks: Blocks, area: tuple[int, int]) -> Checkpoints:
    """Return the checkpoints in their area [begin, end)."""
    row = np.flatnonzero((blocks.number >= area[0]) & (blocks.number < area[1]))
    place = blocks.words(row, 164, 1, "<u4")[:, 0]
    row = row[(place > 192) & (place <= BLOCK - 4)]
    pages = blocks.take(row)
    place, crc = place[(place > 192) & (place <= BLOCK - 4)].tolist(), np.empty(row.size, np.uint32)
    stored = np.empty(row.size, np.uint32)
    for nth, at in enumerate(place):
        # f2fs_crc32: seeded with the magic number, nothing inverted
        crc[nth] = zlib.crc32(pages[nth, :at].tobytes(), SUPER_MAGIC ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
        stored[nth] = int.from_bytes(pages[nth, at : at + 4].tobytes(), "little")
    true = crc == stored
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


def torn(blocks: Blocks, packs: Checkpoints) -> Bools:
    """Return which checkpoints are not the head or foot of a completely written pack, or skip a version."""
    result = np.ones(packs.row.size, bool)
    before = None
    for head in np.flatnonzero(packs.block % SEGMENT == 0).tolist():
        blocks_of = packs.block[head] + np.arange(packs.total[head])
        feet = np.flatnonzero((packs.version == packs.version[head]) & (packs.block == blocks_of[-1]))
        for foot in feet.tolist():
            written = blocks.number[packs.row[head] : packs.row[foot] + 1]
            result[[head, foot]] = not np.isin(blocks_of, written).all()
        number = int(packs.version[head]) & 0xFFFFFFFF
        result[head] |= before is not None and number != before + 1
        before = number
    return result


def _open(pages: np.ndarray) -> list[Ints]:
    """Return the written blocks of the segments open for data, by cur_data_segno and cur_data_blkoff."""
    numbers = pages[:, 84:96].copy().view("<u4").astype(np.int64)
    written = pages[:, 116:122].copy().view("<u2").astype(np.int64)
    return [
        np.concatenate([segment * SEGMENT + np.arange(count) for segment, count in zip(*both, strict=True)])
        for both in zip(numbers.tolist(), written.tolist(), strict=True)
    ]


def _valid(entries: np.ndarray) -> Bools:
    """Return which SIT entries (n, 74) count as many valid blocks as their map has."""
    count = entries[:, :2].copy().view("<u2")[:, 0].astype(np.int64) & _VALID
    return np.asarray(count == np.unpackbits(entries[:, 2:66], axis=1).sum(axis=1, dtype=np.int64))


def sit(pages: np.ndarray) -> Bools:
    """Return which blocks hold SIT entries, some of them with valid blocks."""
    entries = pages[:, : _SIT_ENTRIES * _SIT].reshape(-1, _SIT)
    right, used = (each.reshape(-1, _SIT_ENTRIES) for each in (_valid(entries), some(entries[:, 2:66])))
    return every(right) & some(used)


def nat(pages: np.ndarray, row: Ints, first: Ints, last: Latest) -> Bools:
    """Return which blocks hold NAT entries with places of nodes. first: number of the first node of each."""
    entries = pages[:, : NAT_ENTRIES * _NAT].reshape(-1, _NAT)
    block = entries[:, 5:9].copy().view("<u4")[:, 0].astype(np.int64)
    number = (first[:, None] + np.arange(NAT_ENTRIES)).ravel()
    latest = last.before(number, np.repeat(row, NAT_ENTRIES))
    right = ((latest >= 0) & (latest == block)).reshape(-1, NAT_ENTRIES)
    return some(right)


def summaries(pages: np.ndarray, row: Ints, segment: Ints, last: Latest, table: Mapped) -> Bools:
    """Return which blocks hold summaries with the nodes of a segment's blocks. segment: first block."""
    entries = pages[:, : _SUMMARIES * _SUMMARY].reshape(-1, _SUMMARY)
    block = (segment[:, None] + np.arange(_SUMMARIES)).ravel()
    right = _true(entries, block, np.repeat(row, _SUMMARIES), last, table)
    return some(right.reshape(-1, _SUMMARIES))


def open_summaries(
    pages: np.ndarray, row: Ints, nth: Ints, opened: list[Ints], last: Latest, table: Mapped
) -> Bools:
    """Return which blocks of compact summaries (nth in their pack) name the nodes of open segments."""
    right = np.zeros(row.size, bool)
    for index, written in enumerate(opened):
        before = 0 if nth[index] == 0 else _FIRST + (int(nth[index]) - 1) * _FULL
        block = written[before : before + (_FIRST if nth[index] == 0 else _FULL)]
        begin = 2 * _JOURNAL if nth[index] == 0 else 0
        entries = pages[index, begin : begin + block.size * _SUMMARY].reshape(-1, _SUMMARY)
        right[index] = _true(entries, block, np.full(block.size, row[index]), last, table).any()
    return right


def _true(entries: np.ndarray, block: Ints, when: Ints, last: Latest, table: Mapped) -> Bools:
    """Return which summary entries (n, 7) name the node in a block, or that mapped it in that slot."""
    number = entries[:, :4].copy().view("<u4")[:, 0].astype(np.int64)
    slot = entries[:, 5:7].copy().view("<u2")[:, 0].astype(np.int64)
    right: Bools = (last.before(number, when) == block) & (number > 0)
    place, _ = at_time(table, block, when, when)
    mapped = np.flatnonzero(place >= 0)
    right[mapped] |= (table.node[place[mapped]] == number[mapped]) & (
        table.slot[place[mapped]] == slot[mapped]
    )
    return right


def journals(pages: np.ndarray, row: Ints, compact: Bools, last: Latest) -> Bools:
    """Return which blocks of a pack hold the NAT and SIT journals that they should.

    NAT entries must give the places of nodes, SIT entries count as many valid blocks as their map has.
    """
    right = np.zeros(row.size, bool)
    for index in range(row.size):
        at = (0, _JOURNAL) if compact[index] else (_SUMMARIES * _SUMMARY,) * 2
        nats, sits = (int(pages[index, place : place + 2].view("<u2")[0]) for place in at)
        if 0 < nats <= (_JOURNAL - 2) // _NAT_JOURNAL:
            entries = pages[index, at[0] + 2 : at[0] + 2 + nats * _NAT_JOURNAL].reshape(-1, _NAT_JOURNAL)
            number, block = (entries[:, a : a + 4].copy().view("<u4")[:, 0].astype(np.int64) for a in (0, 9))
            latest = last.before(number, np.full(nats, row[index]))
            right[index] |= bool(((latest >= 0) & (latest == block)).any())
        if 0 < sits <= (_JOURNAL - 2) // _SIT_JOURNAL:
            entries = pages[index, at[1] + 2 : at[1] + 2 + sits * _SIT_JOURNAL].reshape(-1, _SIT_JOURNAL)
            right[index] |= bool(_valid(entries[:, 4:]).all())
    return right


def orphans(pages: np.ndarray) -> Bools:
    """Return which blocks list orphan inodes, as many as their count."""
    words = pages.view("<u4")
    count = words[:, _ORPHANS + 2].astype(np.int64)
    used = (words[:, :_ORPHANS] > 0).sum(axis=1)
    return np.asarray((count > 0) & (count == used))


def pack_of(packs: Checkpoints, block: Ints, row: Ints) -> Ints:
    """Return the checkpoint that each block of a pack belongs to: the nearest in time, -1 if none."""
    result = np.full(block.size, -1)
    for half in np.unique(block // SEGMENT).tolist():
        own = np.flatnonzero(packs.block // SEGMENT == half)
        wanted = np.flatnonzero(block // SEGMENT == half)
        if own.size:
            after = np.searchsorted(packs.row[own], row[wanted])
            near = [own[np.clip(after + step, 0, own.size - 1)] for step in (-1, 0)]
            closer = np.abs(packs.row[near[1]] - row[wanted]) <= np.abs(packs.row[near[0]] - row[wanted])
            result[wanted] = np.where(closer, near[1], near[0])
    return result
