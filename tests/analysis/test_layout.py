"""Where a filesystem keeps what: from what its tools print, or one clear line."""

from pathlib import Path

import numpy as np
import pytest

from analysis.adapters import layouts
from analysis.schemas.ledger import LABELS
from base.errors import FileError

SUPERBLOCK = {
    "Block size": "4096",
    "Inode blocks per group": "480",
    "Reserved GDT blocks": "74",
    "Journal inode": "8",
    "Orphan file inode": "12",
    "First block": "0",
    "Overhead clusters": "5694",
}
GROUPS = """dumpe2fs 1.47.2 (1-Jan-2025)
group:block:super:gdt:bbitmap:ibitmap:itable
0:0:0:1-1:76:81:86
1:32768:32768:32769-32769:77:82:566
2:65536:-1:-1:78:83:1046
"""
INODES = """debugfs 1.47.2 (1-Jan-2025)
debugfs: stat <8>
Inode: 8   Type: regular    Mode:  0600   Flags: 0x80000
EXTENTS:
(ETB0):2000, (0-1023):40000-41023, (1024-4095[u]):50000-53071
debugfs: stat <2>
Inode: 2   Type: directory    Mode:  0755   Flags: 0x0
BLOCKS:
(0):2486, (1-2):2490-2491, (IND):2492
TOTAL: 4
Inode: 12   Type: regular    Mode:  0600   Flags: 0x80000
EXTENTS:
(0-31):2500-2531
Inode: 14   Type: regular    Mode:  0644   Flags: 0x80000
File ACL: 2600
EXTENTS:
(ETB0):2601, (0-99):2700-2799
"""
_AREAS = ("ckpt", "sit", "nat", "ssa")
F2FS = {
    "log_blocksize": "0x       c : 12",
    "log_blocks_per_seg": "0x       9 : 9",
    **{f"segment_count_{name}": f"0x {n} : {n}" for name, n in zip(_AREAS, (2, 2, 6, 2), strict=True)},
    "cp_blkaddr": "0x     200 : 512",
    "sit_blkaddr": "0x     600 : 1536",
    "nat_blkaddr": "0x     a00 : 2560",
    "ssa_blkaddr": "0x    1600 : 5632",
    "main_blkaddr": "0x    1a00 : 6656",
}


def ext4(folder: Path, groups: str = GROUPS, inodes: str = INODES) -> layouts.Layout:
    (folder / "groups.txt").write_text(groups)
    (folder / "inodes.txt").write_text(inodes)
    return layouts.layout("ext4", folder, SUPERBLOCK)


def labels(found: layouts.Layout, blocks: list[int]) -> list[str | None]:
    places = found.label(np.array(blocks) * 8 + 3)
    return [None if place == layouts.DATA else LABELS[place] for place in places]


def changes(found: layouts.Layout, blocks: list[int]) -> list[bool]:
    return [bool(one) for one in found.may_change(np.array(blocks) * 8 + 3)]


def test_ext4(tmp_path: Path) -> None:
    found = ext4(tmp_path)
    meta = "bitmap/SIT/NAT/superblock"
    assert labels(found, [0, 1, 75, 76, 83, 32768, 32843]) == [meta] * 7
    assert labels(found, [84, 85, 65536, 32844]) == [None] * 4
    assert labels(found, [86, 565, 566, 1525]) == ["inode/node"] * 4
    assert labels(found, [40000, 41023, 50000, 53071]) == ["filesystem journal"] * 4
    assert labels(found, [39999, 41024, 2700, 2799, 10**9]) == [None] * 5
    assert labels(found, [2486, 2490, 2491, 2487]) == ["directory"] * 3 + [None]
    # blocks of a map, of extended attributes, of the file of orphans
    assert labels(found, [2000, 2492, 2600, 2601, 2500, 2531]) == ["inode/node"] * 6
    # these may have been a file's earlier: a directory's, of a map, of extended attributes
    assert changes(found, [2486, 2490, 2492, 2600]) == [True] * 4
    assert changes(found, [0, 75, 86, 40000, 2500, 2700]) == [False] * 6


def test_f2fs(tmp_path: Path) -> None:
    found = layouts.layout("f2fs", tmp_path, F2FS)
    meta = "bitmap/SIT/NAT/superblock"
    assert labels(found, [0, 511, 512, 1535]) == [meta, meta, "checkpoint pack", "checkpoint pack"]
    assert labels(found, [1536, 6655, 6656, 10**9]) == [meta, meta, None, None]


FSMAP = """EXT,MAJOR,MINOR,PSTART,PEND,OWNER,OSTART,OEND,LENGTH
0,253,0,0,7,special_88:1,,,8
1,253,0,8,23,special_88:3,,,16
2,253,0,24,31,inode_128_data,0,7,8
3,253,0,32,39,inode_132_data,0,7,8
4,253,0,40,47,inode_132_data_bmbt,,,8
5,253,0,48,55,special_0:1,,,8
6,253,0,56,63,special_88:5,,,8
7,253,0,64,127,special_88:2,,,64
"""


def test_xfs(tmp_path: Path) -> None:
    (tmp_path / "directories.txt").write_text("128\n")
    (tmp_path / "fsmap.csv").write_text(FSMAP)
    found = layouts.layout("xfs", tmp_path, {})
    meta = "bitmap/SIT/NAT/superblock"
    inode, log = "inode/node", "filesystem journal"
    expected = [meta, meta, meta, "directory", None, inode, None, inode, log, log, None]
    assert labels(found, [0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16]) == expected
    assert changes(found, [1, 3, 5, 7]) == [True] * 4
    assert changes(found, [0, 4, 8]) == [False] * 3


CHUNKS = """chunk tree
	item 0 key (DEV_ITEMS DEV_ITEM 1) itemoff 16185 itemsize 98
		devid 1 total_bytes 2147483648 bytes_used 457965568
	item 1 key (FIRST_CHUNK_TREE CHUNK_ITEM 13631488) itemoff 16105 itemsize 80
		length 8388608 owner 2 stripe_len 65536 type DATA|single
			stripe 0 devid 1 offset 13631488
	item 2 key (FIRST_CHUNK_TREE CHUNK_ITEM 22020096) itemoff 15993 itemsize 112
		length 8388608 owner 2 stripe_len 65536 type SYSTEM|DUP
			stripe 0 devid 1 offset 22020096
			stripe 1 devid 1 offset 30408704
	item 3 key (FIRST_CHUNK_TREE CHUNK_ITEM 30408704) itemoff 15881 itemsize 112
		length 107347968 owner 2 stripe_len 65536 type METADATA|DUP
			stripe 0 devid 1 offset 38797312
			stripe 1 devid 1 offset 146145280
"""


def test_btrfs(tmp_path: Path) -> None:
    (tmp_path / "chunks.txt").write_text(CHUNKS)
    found = layouts.layout("btrfs", tmp_path, {"total_bytes": "2147483648"})
    meta, node = "bitmap/SIT/NAT/superblock", "inode/node"
    # reserved; data, outside all chunks; both copies of the system's chunk
    assert labels(found, [0, 16, 255, 256, 3328, 5376, 9471]) == [meta] * 3 + [None] * 2 + [meta] * 2
    # both copies of the nodes, without the second superblock's stripe in the first
    assert labels(found, [9472, 16383, 16384, 16399, 16400]) == [node, node, meta, meta, node]
    assert labels(found, [35679, 35680, 61887, 61888]) == [node, node, node, None]


@pytest.mark.parametrize(
    ("chunks", "wrong"),
    [
        ("chunk tree\n", "chunks.txt: no chunk of metadata"),
        (CHUNKS.replace("DATA|single", "DATA|METADATA|single"), "chunks.txt: line 5: DATA.METADATA"),
        (CHUNKS.replace("offset 146145280", "offset 38797312"), "two regions of btrfs contain block"),
    ],
)
def test_bad_chunks(tmp_path: Path, chunks: str, wrong: str) -> None:
    (tmp_path / "chunks.txt").write_text(chunks)
    with pytest.raises(FileError, match=wrong):
        layouts.layout("btrfs", tmp_path, {"total_bytes": "2147483648"})


@pytest.mark.parametrize(
    ("groups", "inodes", "wrong"),
    [
        ("group 1\n", INODES, "groups.txt: no table of block groups"),
        (GROUPS[:-6] + "\n", INODES, "groups.txt: line 5"),
        (GROUPS, "debugfs: bad\n", "inodes.txt: no blocks of any inode"),
        (GROUPS, INODES.replace("(0):2486", "(0):87"), "two regions of ext4 contain block 87"),
        (GROUPS, INODES.replace("2490-2491", "2491-2490"), "inodes.txt: line 9: blocks from 2491 to 2490"),
        (
            GROUPS,
            INODES.replace("ACL: 2600", f"ACL: {2**63 - 1}"),
            "a region of ext4 has 1 blocks from 922337",
        ),
    ],
)
def test_bad_files(tmp_path: Path, groups: str, inodes: str, wrong: str) -> None:
    with pytest.raises(FileError, match=wrong):
        ext4(tmp_path, groups, inodes)
