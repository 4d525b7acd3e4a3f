"""Find F2FS's nodes (inodes, block maps) in written blocks: gaps in their log, and the file pages they map.

All numbers are little-endian; their source is named in the filesystem's module. A node ends with a footer:
the numbers of the node and its inode, the place in the inode's tree, the version of the checkpoint before it,
and the block where the log continues.
"""

from typing import NamedTuple

import numpy as np

from analysis.content.blocks import Blocks
from base.arrays import Bools, Ints

SEGMENT = 512  # blocks
_FOOTER = 4072
_OF_FILE = 1  # bit of the footer's flag: COLD_BIT_SHIFT
_PLACE_BITS = 3  # bits of the footer's flag before the place in the tree
_OF_INODE, _OF_NODE = 923, 1018  # block addresses in each: DEF_ADDRS_PER_INODE, DEF_ADDRS_PER_BLOCK
_ADDRESSES = 360  # f2fs_inode.i_addr
_INLINE_XATTR, _INLINE_DATA, _INLINE_DENTRY, _EXTRA = 1, 2, 4, 0x20  # f2fs_inode.i_inline
_XATTR_SLOTS = 50  # DEFAULT_INLINE_XATTR_ADDRS
_XATTR_NODE = (1 << 29) - 1
_MOST = 1 << 31  # nodes


class Nodes(NamedTuple):
    """Writings of nodes."""

    row: Ints
    block: Ints
    number: Ints  # nid
    inode: Ints
    place: Ints  # in the inode's tree, 0: the inode itself
    version: np.ndarray  # of the checkpoint before it, with the checkpoint's CRC in the upper half
    following: Ints  # block where the log continues
    of_file: Bools  # of a file, not a directory: each has its own log


class Latest:
    """Look up where a node was last written before a writing."""

    def __init__(self, written: Nodes) -> None:
        order = np.lexsort((written.row, written.number))
        self._number, self._block = written.number[order], written.block[order]
        self._key = (self._number << 32) | written.row[order]

    def before(self, number: Ints, row: Ints) -> Ints:
        """Return the block of each node, -1 if it was not written."""
        if not self._key.size:
            return np.full(number.size, -1)
        where = np.searchsorted(self._key, (number << 32) | row) - 1
        same = (where >= 0) & (self._number[where] == number)
        return np.where(same, self._block[where], -1)


class Mapped(NamedTuple):
    """The first writing of a node that maps a page to a block, sorted by block and time."""

    block: Ints
    row: Ints  # the node's writing
    inode: Ints
    page: Ints
    node: Ints
    slot: Ints


def nodes(blocks: Blocks, main: tuple[int, int], versions: np.ndarray) -> Nodes:
    """Return the nodes in the main area [begin, end), by structure and the version of a known checkpoint."""
    row = np.flatnonzero((blocks.number >= main[0]) & (blocks.number < main[1]))
    words = blocks.words(row, _FOOTER, 6, "<u4").astype(np.int64)
    number, inode, flag, following = words[:, 0], words[:, 1], words[:, 2], words[:, 5]
    version = words[:, 4].astype(np.uint64) << np.uint64(32) | words[:, 3].astype(np.uint64)
    place = flag >> _PLACE_BITS
    true = (number > 0) & (number < _MOST) & (inode > 0) & ((number == inode) == (place == 0))
    true &= (following >= main[0]) & (following < main[1]) & np.isin(version, versions)
    columns = (row, blocks.number[row], number, inode, place, version, following, (flag & _OF_FILE) > 0)
    return Nodes(*(column[true] for column in columns))


def out_of_place(nodes: Nodes) -> Bools:
    """Return which nodes name an earlier block of their segment as the next: a log only goes forward."""
    same = (nodes.block // SEGMENT) == (nodes.following // SEGMENT)
    return np.asarray(same & (nodes.following <= nodes.block))


def behind_a_gap(nodes: Nodes) -> Bools:
    """Return which nodes lie at a block that no node of their log named as the next.

    A node before them was not written. The first node of a log is skipped. There are three logs: nodes of
    files, of directories, and nodes that hold numbers of nodes.
    """
    gap = np.zeros(nodes.row.size, bool)
    holds = _holds(nodes.place)
    for log in (holds & nodes.of_file, holds & ~nodes.of_file, ~holds):
        own = np.flatnonzero(log)
        own = own[np.argsort(nodes.row[own], kind="stable")]
        gap[own[1:]] = ~np.isin(nodes.block[own[1:]], nodes.following[own])
    return gap


def mapped(blocks: Blocks, nodes: Nodes, main: tuple[int, int]) -> Mapped:
    """Return the addresses in the main area that nodes hold, each when it first appears in a node."""
    order = np.lexsort((nodes.row, nodes.number))
    held = order[_holds(nodes.place[order])]
    raw = blocks.take(nodes.row[held]).view("<u4")
    slots, first = _slots(raw, nodes.place[held])
    addresses = np.zeros((held.size, _OF_NODE), np.uint32)
    of_inode = nodes.place[held] == 0
    begin = _ADDRESSES // 4
    addresses[of_inode, :_OF_INODE] = raw[of_inode, begin : begin + _OF_INODE]
    addresses[~of_inode] = raw[~of_inode, :_OF_NODE]
    addresses[np.arange(_OF_NODE) >= slots[:, None]] = 0
    addresses[(addresses < main[0]) | (addresses >= main[1])] = 0  # not allocated, or a hole
    changed = addresses != 0
    again = np.flatnonzero(np.diff(nodes.number[held]) == 0) + 1
    changed[again] &= addresses[again] != addresses[again - 1]
    selected, slot = np.nonzero(changed)
    made = Mapped(
        block=addresses[selected, slot].astype(np.int64),
        row=nodes.row[held][selected],
        inode=nodes.inode[held][selected],
        page=first[selected] + slot,
        node=nodes.number[held][selected],
        slot=slot,
    )
    by_block = np.lexsort((made.row, made.block))
    return Mapped(*(column[by_block] for column in made))


def _holds(place: Ints) -> Bools:
    """Return which places in a tree belong to nodes with addresses of data: IS_DNODE."""
    behind = place - 6 - 2 * _OF_NODE
    indirect = np.isin(place, (3, 4 + _OF_NODE, 5 + 2 * _OF_NODE))
    indirect |= (behind >= 0) & (behind % (_OF_NODE + 1) == 0)
    return np.asarray(~indirect & (place != _XATTR_NODE))


def _slots(raw: np.ndarray, place: Ints) -> tuple[Ints, Ints]:
    """Return (number of addresses in each node, first page that they map): f2fs_start_bidx_of_node.

    An inode with inline extended attributes has fewer. All have them unless mounted otherwise.
    """
    inline = raw[:, 0] >> 24
    kept_within = (inline & (_INLINE_DATA | _INLINE_DENTRY | _EXTRA)) > 0
    of_inode = _OF_INODE - np.where(inline & _INLINE_XATTR, _XATTR_SLOTS, 0)
    usual = _OF_INODE - _XATTR_SLOTS
    slots = np.where(place > 0, _OF_NODE, np.where(kept_within, 0, of_inode))
    twice = 2 * _OF_NODE + 4
    nth = np.where(
        place <= 2,
        place - 1,
        np.where(
            place <= twice,
            place - 2 - (place - 4) // (_OF_NODE + 1),
            place - 5 - (place - twice - 3) // (_OF_NODE + 1),
        ),
    )
    return slots, np.where(place == 0, 0, nth * _OF_NODE + usual)


def at_time(table: Mapped, block: Ints, row: Ints, before: Ints) -> tuple[Ints, Ints]:
    """Return the last place in the table of a block up to a writing, and the first after it before another.

    -1: none.
    """
    key = (table.block << 32) | table.row
    where = np.searchsorted(key, (block << 32) | row, side="right")
    last, first = np.maximum(where - 1, 0), np.minimum(where, max(key.size - 1, 0))
    if not key.size:
        return np.full(block.size, -1), np.full(block.size, -1)
    earlier = np.where((where > 0) & (table.block[last] == block), last, -1)
    later = (where < key.size) & (table.block[first] == block) & (table.row[first] < before)
    return earlier, np.where(later, first, -1)
