"""ext4: mkfs and mount options allowed, their conflicts and limits, how they are read back; errors, fsck.

`superblock.txt` is from dumpe2fs -h, `groups.txt` from dumpe2fs -g, and `inodes.txt` from debugfs' `stat` of
the journal's inode, the orphan file, and every directory and file.
"""

from model.filesystems import Filesystem, Mkfs, Superblock, features, number, several

_DATA_MODES = {"": "journal", "_ordered": "ordered", "_writeback": "writeback"}
_NUMBER = r"[0-9]+"
# By name, as mke2fs accepts bits too (feature_i3), and journal_dev makes no filesystem: lib/e2p/feature.c of
# e2fsprogs.
_FEATURE = (
    "64bit|bigalloc|casefold|dir_index|dir_nlink|ea_inode|encrypt|ext_attr|extents?|extra_isize|fast_commit"
    "|filetype|flex_bg|has_journal|huge_file|inline_data|large_dir|large_file|meta_bg|metadata_csum"
    "|metadata_csum_seed|orphan_file|project|quota|resize_inode|sparse_super2?|stable_inodes"
    "|uninit_(bg|groups)|verity"
)
_NO_JOURNAL = r"-O \^has_journal"
# When inode tables and journal are zeroed: the superblock does not show it.
_LATER = "(lazy_itable_init|lazy_journal_init)="


def _journal(requested: str, superblock: Superblock) -> str | None:
    """Return the journal's size: `size=64` is in MiB, which dumpe2fs prints as `64M`."""
    size = superblock.get("Total journal size", "")
    return f"size={size[:-1]}" if requested.startswith("size=") and size.endswith("M") else None


def _data_mode(options: tuple[str, ...], superblock: Superblock) -> str | None:
    """Return the data mode: /proc/mounts omits the superblock's default or, without one, `ordered`."""
    for option in options:
        if option.startswith("data="):
            return option.removeprefix("data=")
    defaults = superblock.get("Default mount options")
    if defaults is None or "has_journal" not in superblock.get("Filesystem features", ""):
        return None
    named = [mode for name, mode in _DATA_MODES.items() if f"journal_data{name}" in defaults.split()]
    return named[0] if named else "ordered"


FILESYSTEM = Filesystem(
    signatures=("ext2", "ext3", "ext4"),
    mkfs=Mkfs(
        allowed={
            "-q": "",
            "-v": "",
            **dict.fromkeys(("-b", "-C", "-g", "-G", "-I"), _NUMBER),
            "-E": f"{_LATER}[01](,{_LATER}[01])*",
            "-J": f"size={_NUMBER}",
            "-O": several(_FEATURE),
        },
        read_back={
            "-b": number("Block size"),
            "-C": number("Cluster size"),
            "-g": number("Blocks per group"),
            "-G": number("Flex block group size"),
            "-I": number("Inode size"),
            "-J": _journal,
            "-O": features("Filesystem features"),
        },
        flags=frozenset(("-q", "-F", "-v")),
        untraced=f"-E{_LATER}[^,]*(,{_LATER}[^,]*)*",
    ),
    # Documentation/admin-guide/ext4.rst of Linux 6.12
    mount=(
        "data=(journal|ordered|writeback)",
        f"commit={_NUMBER}",
        "barrier(=[01])?",
        "nobarrier",
        "journal_checksum",
        "nojournal_checksum",
        "journal_async_commit",
        "journal_ioprio=[0-7]",
        "(no)?delalloc",
        "(no)?auto_da_alloc",
        "(no)?dioread_nolock",
        "(no)?discard",
        "(no)?block_validity",
        "(no)?user_xattr",
        "(no)?acl",
        f"max_batch_time={_NUMBER}",
        f"min_batch_time={_NUMBER}",
        f"inode_readahead_blks={_NUMBER}",
        f"stripe={_NUMBER}",
        "errors=(continue|remount-ro)",
        "i_version",
    ),
    # fs/ext4/super.c of Linux 6.12, ext4_check_opt_consistency and __ext4_fill_super; e2fsprogs,
    # misc/mke2fs.c
    excluded=(
        (_NO_JOURNAL, "(data|commit)=.*|(no)?journal_.*", "it has no journal to mount with"),
        (_NO_JOURNAL, "-J .*|-O fast_commit|-O orphan_file", "it has no journal"),
        ("data=journal", "delalloc|dioread_nolock", "the kernel refuses both"),
        ("data=ordered", "journal_async_commit", "the kernel refuses both"),
        ("journal_async_commit", "nojournal_checksum", "asynchronous commits have checksums"),
        ("-O metadata_csum", "-O uninit_(bg|groups)", "one takes the other's place"),
    ),
    unjournalled=_NO_JOURNAL,
    needs=(
        ("-C .*", "-O bigalloc", "a cluster is of a filesystem with that feature"),
        (r"-O \^extents?", r"-O \^64bit", "64 bits, which are on by default, need extents"),
        ("-O meta_bg", r"-O \^resize_inode", "resize_inode, which is on by default, excludes it"),
        (r"-O \^metadata_csum", r"-O \^metadata_csum_seed", "the seed, which is on by default, needs it"),
    ),
    # fs/ext4/super.c, ext4_parse_param: INT_MAX / HZ, and HZ is 100 at least; the others have 32 bits
    limits={
        "commit=": (range(2**31 // 100), "0 to 21474835 s (fs/ext4/super.c: INT_MAX ticks)"),
        "inode_readahead_blks=": (
            frozenset((0, *(1 << power for power in range(31)))),
            "0 or a power of two up to 2^30 (fs/ext4/super.c)",
        ),
        **dict.fromkeys(
            ("max_batch_time=", "min_batch_time=", "stripe="),
            (range(2**32), "0 to 4294967295 (fs/ext4/super.c: 32 bits)"),
        ),
    },
    unmountable={"-b (?!(1024|2048|4096)$).*": "a block is 1024, 2048 or 4096 bytes: at most a page"},
    fsck="e2fsck -fn",
    errors=(
        r"JBD2: .*(error|corrupt)|Aborting journal|EXT4-fs (error|warning)"
        r"|EXT4-fs \(.*\): .*(error|corrupt|abort)"
    ),
    # the kernel's defaults
    hidden={
        "barrier": "nobarrier",
        "barrier=1": "nobarrier",
        "delalloc": "nodelalloc",
        "dioread_nolock": "nodioread_nolock",
        "commit=5": "commit=",
    },
    files=("groups.txt", "inodes.txt"),
    commits=True,
    copies_have_homes=True,
    commit_seconds=5,  # JBD2_DEFAULT_MAX_COMMIT_AGE
    # a commit has a page of inodes more where a tick came since the file's last time
    exact="(^|,)data=journal(,|$)",
    data_mode=_data_mode,
    colors={
        "ext4": "#0072B2",
        "ext4-journal": "#7B6FD0",
        "ext4-ordered": "#0072B2",
        "ext4-writeback": "#56B4E9",
    },
)
