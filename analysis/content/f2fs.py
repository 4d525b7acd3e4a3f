"""Confirm or contradict labels of F2FS's blocks by bytes: nodes, checkpoints, segment tables, mapped files.

Constants here, in nodes.py and in segments.py are from include/linux/f2fs_fs.h and fs/f2fs/node.h of Linux
6.12.
"""

import numpy as np

from analysis.adapters.layouts import DATA, META, PACK
from analysis.content import nodes, segments
from analysis.content.blocks import BLOCK, SECTORS, positions
from analysis.content.findings import Finding, confirmed, contradicted
from analysis.content.nodes import SEGMENT, Latest, Mapped, Nodes
from analysis.content.segments import Checkpoints
from analysis.content.units import Evidence
from analysis.run_files.reading import integer
from base.arrays import Ints, at

SEALED = ("inode/node", "checkpoint pack")
_LOW = np.uint64(0xFFFFFFFF)
_AREAS = ("cp", "sit", "nat", "ssa", "main")


def _number(given: Evidence, name: str) -> int:
    text = given.superblock.get(name, "").partition(":")[2].strip(" ]")
    return integer(given.board / "superblock.txt", 0, name, text)


def read(given: Evidence) -> list[Finding]:
    """Judge nodes, checkpoint packs, the segments' tables, and pages of files and directories."""
    area = {name: _number(given, f"{name}_blkaddr") for name in _AREAS}
    if 1 << _number(given, "log_blocks_per_seg") != SEGMENT:
        return []
    packs = segments.checkpoints(given.blocks, (area["cp"], area["sit"]))
    main = (area["main"], _number(given, "block_count"))
    written = nodes.nodes(given.blocks, main, _versions(given, main, packs))
    table = nodes.mapped(given.blocks, written, main)
    last = Latest(written)
    return [
        *_nodes(given, written),
        *_packs(given, packs, main[0], last, table),
        *_tables(given, area, last, table),
        *_pages(given, table),
    ]


def _versions(given: Evidence, main: tuple[int, int], packs: Checkpoints) -> np.ndarray:
    """Return the versions that a node may have: those of the packs in the log, and the one before them.

    The CRC of the pack before them is not in the log. It is the most frequent one in the nodes that were
    written before the first pack.
    """
    versions = packs.version
    if versions.size:
        before = np.uint64((int(versions.min() & _LOW) - 1) & 0xFFFFFFFF)
        oldest = int(packs.row[(versions & _LOW) == (versions & _LOW).min()].min())
    else:
        before, oldest = np.uint64(_number(given, "checkpoint_ver")), given.blocks.number.size
    row = np.arange(oldest)
    row = row[(given.blocks.number[row] >= main[0]) & (given.blocks.number[row] < main[1])]
    words = given.blocks.words(row, 4084, 2, "<u4").astype(np.uint64)
    candidates = (words[:, 1] << np.uint64(32) | words[:, 0])[words[:, 0] == before]
    values, count = np.unique(candidates, return_counts=True)
    return np.asarray(np.r_[versions, values[count == count.max(initial=0)][:1]])


def _nodes(given: Evidence, written: Nodes) -> list[Finding]:
    """Judge nodes: of a known checkpoint, and written where the log continued."""
    units = given.units
    selected = np.flatnonzero(units.row >= 0)
    place = positions(units.row[selected], written.row)
    selected, place = selected[place >= 0], place[place >= 0]
    labelled = np.isin(selected, units.labelled("inode/node"))
    moved, gap = nodes.out_of_place(written)[place], nodes.behind_a_gap(written)[place]
    return [
        confirmed("node with the checkpoint's version", selected[labelled & ~moved]),
        contradicted("node of another place", selected[labelled & moved]),
        contradicted("node behind one that was not written", selected[labelled & gap]),
        contradicted("node under another label", selected[~labelled]),
    ]


def _packs(given: Evidence, packs: Checkpoints, main: int, last: Latest, table: Mapped) -> list[Finding]:
    """Judge checkpoint packs: head and foot by CRC and place, the rest by its entries."""
    units, blocks = given.units, given.blocks
    own = np.flatnonzero((units.row >= 0) & (given.layout.label(units.block * SECTORS) == PACK))
    row, block = units.row[own], units.block[own]
    pack = segments.pack_of(packs, block, row)
    since, total, first = block % SEGMENT, at(packs.total, pack), at(packs.summaries, pack)
    ends, torn = positions(row, packs.row) >= 0, segments.torn(blocks, packs)
    edge = (since == 0) | (since == total - 1)
    inner = np.flatnonzero(~ends & (pack >= 0) & (since > 0) & (since < total - 1))
    pages = blocks.take(row[inner])
    listed = segments.orphans(pages) & (since[inner] < first[inner])
    compact = packs.compact[pack[inner]] if packs.row.size else np.zeros(0, bool)
    logged = segments.journals(pages, row[inner], compact, last) & (since[inner] >= first[inner])
    nth = since[inner] - first[inner]
    left = np.flatnonzero(compact & ~logged & (nth >= 0))
    opened = [packs.open[number] + main for number in pack[inner[left]]]
    right = segments.open_summaries(pages[left], row[inner[left]], nth[left], opened, last, table)
    summed = left[right]
    return [
        *_labelled(given, "checkpoint with its CRC", PACK, own[ends & edge]),
        contradicted("checkpoint elsewhere in its pack", own[ends & ~edge]),
        contradicted("checkpoint without all blocks of its pack", own[np.isin(row, packs.row[torn])]),
        *_labelled(given, "journals of NAT and SIT", PACK, own[inner[logged]]),
        *_labelled(given, "summaries of open segments", PACK, own[inner[summed]]),
        *_labelled(given, "list of orphans", PACK, own[inner[listed]]),
    ]


def _labelled(given: Evidence, rule: str, label: int, which: Ints) -> list[Finding]:
    """Confirm units with the label, and contradict units with another."""
    own = given.units.label[which] == label
    return [confirmed(rule, which[own]), contradicted(f"{rule} under another label", which[~own])]


def _tables(given: Evidence, area: dict[str, int], last: Latest, table: Mapped) -> list[Finding]:
    """Judge SIT, NAT and summaries by their entries, and the superblock by its magic."""
    units, blocks = given.units, given.blocks
    own = np.flatnonzero((units.row >= 0) & (given.layout.label(units.block * SECTORS) == META))

    def within(begin: int, end: int) -> tuple[Ints, np.ndarray, Ints, Ints]:
        selected = own[(units.block[own] >= begin) & (units.block[own] < end)]
        return selected, blocks.take(units.row[selected]), units.row[selected], units.block[selected] - begin

    of_sit, pages, _, _ = within(area["sit"], area["nat"])
    findings = _labelled(given, "maps of segments", META, of_sit[segments.sit(pages)])
    of_nat, pages, row, since = within(area["nat"], area["ssa"])
    # each block has two places, one segment apart
    first = (since // (2 * SEGMENT) * SEGMENT + since % SEGMENT) * segments.NAT_ENTRIES
    right = segments.nat(pages, row, first, last)
    findings += _labelled(given, "addresses of nodes", META, of_nat[right])
    of_ssa, pages, row, since = within(area["ssa"], area["main"])
    start = area["main"] + since * SEGMENT
    right = segments.summaries(pages, row, start, last, table)
    findings += _labelled(given, "summaries of a segment", META, of_ssa[right])
    first_ones, pages, _, _ = within(0, 2)
    magic = pages[:, 1024:1028].copy().view("<u4")[:, 0] == segments.SUPER_MAGIC
    return [*findings, *_labelled(given, "superblock", META, first_ones[magic])]


def _pages(given: Evidence, table: Mapped) -> list[Finding]:
    """Judge pages of files by the nodes that map their blocks."""
    units = given.units
    # only the data region holds pages of files
    selected = np.flatnonzero((units.row >= 0) & (given.layout.label(units.block * SECTORS) == DATA))
    row, block = units.row[selected], units.block[selected]
    number = given.blocks.number
    order = np.argsort(number, kind="stable")
    same_block = np.flatnonzero(number[order][1:] == number[order][:-1])
    following = np.full(number.size, np.iinfo(np.int64).max)  # next writing of the same block
    following[order[same_block]] = order[same_block + 1]
    earlier, later = nodes.at_time(table, block, row, following[row])
    inode, page = units.inode[selected], units.offset[selected] // BLOCK
    same = [
        (place >= 0) & (at(table.inode, place) == inode) & (at(table.page, place) == page)
        for place in (earlier, later)
    ]
    other = (later >= 0) & ~same[1]
    return [
        confirmed("page that its node has there", selected[(same[0] | same[1]) & ~other], by_place=True),
        contradicted("page that a node has as another", selected[other]),
    ]
