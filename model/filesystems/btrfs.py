"""Btrfs: allowed and conflicting mkfs and mount options, read-back of mkfs's; kernel log errors, fsck.

`superblock.txt` has the fields of `btrfs inspect-internal dump-super -f`, `chunks.txt` is its dump-tree of
the chunk tree, which maps the device.
"""

from model.filesystems import Filesystem, Mkfs, number

FILESYSTEM = Filesystem(
    signatures=("btrfs",),
    mkfs=Mkfs(
        allowed={"-q": "", "-n": "4096|8192|16384|32768|65536"},
        read_back={"-n": number("nodesize")},
        flags=frozenset(("-q",)),
    ),
    # fs/btrfs/super.c of Linux 6.12, btrfs_show_options; without `degraded`, `rescue=` and subvolumes
    mount=(
        "nodatasum",
        "nodatacow",
        "nobarrier",
        "noacl",
        "notreelog",
        "flushoncommit",
        "autodefrag",
        # with its level, as without one the kernel chooses
        "compress(-force)?=(lzo|(zlib|zstd):[1-9])",
        "max_inline=[0-9]+",
        "commit=[1-9][0-9]*",
        "discard(=(async|sync))?",
        "ssd(_spread)?",
        "nossd",
    ),
    excluded=(("nodata(cow|sum)", "compress.*", "the kernel compresses no data without checksums"),),
    unwatched={"compress.*": "a compressed page does not name its file"},
    fsck="btrfs check --readonly",
    errors=r"BTRFS:? (error|critical|alert|emergency)",
    files=("chunks.txt",),
    # the btree inode (BTRFS_BTREE_INODE_OBJECTID), which has the nodes of all trees
    inodes={1: None},
    inline_data=True,
    colors={"Btrfs": "#CC79A7"},
    anonymous=True,
)
