"""F2FS: allowed mkfs and mount options, how each is read back, errors, threads and checkpoint reasons.

`superblock.txt` of a run is from dump.f2fs -d 1.
"""

from model.filesystems import Filesystem, Mkfs, features, number, several

_NUMBER = r"[0-9]+"
# f2fs-tools, lib/libf2fs.c, without device_alias, which names another device
_FEATURE = (
    "casefold|compression|encrypt|extra_attr|flexible_inline_xattr|inode_checksum|inode_crtime|lost_found"
    "|project_quota|quota|ro|sb_checksum|verity"
)


FILESYSTEM = Filesystem(
    signatures=("f2fs",),
    mkfs=Mkfs(
        allowed={"-q": "", "-O": several(_FEATURE), "-s": _NUMBER, "-z": _NUMBER},
        read_back={
            "-O": features("superblock features"),
            "-s": number("segs_per_sec"),
            "-z": number("secs_per_zone"),
        },
        flags=frozenset(("-q", "-f")),
        # mkfs/f2fs_format_main.c, f2fs_parse_options: `-O encrypt -O quota -O verity` is all three
        adds=frozenset(("-O",)),
    ),
    # Documentation/filesystems/f2fs.rst of Linux 6.12
    mount=(
        "background_gc=(on|off|sync)",
        "(no)?gc_merge",
        "(no)?discard",
        "discard_unit=(block|segment|section)",
        "active_logs=[246]",
        "(no)?user_xattr",
        "(no)?acl",
        "(no)?inline_xattr",
        "(no)?inline_data",
        "(no)?inline_dentry",
        "(no)?flush_merge",
        "(no)?barrier",
        "fastboot",
        "(no)?extent_cache",
        "age_extent_cache",
        "mode=(adaptive|lfs)",
        "fsync_mode=(posix|strict|nobarrier)",
        "alloc_mode=(default|reuse)",
        "checkpoint=enable",
        "(no)?checkpoint_merge",
        "atgc",
        "data_flush",
        "errors=(continue|remount-ro)",
        "memory=(normal|low)",
    ),
    # fs/f2fs/super.c, parse_options; f2fs-tools, mkfs/f2fs_format_main.c
    excluded=(("mode=lfs", "atgc", "the kernel refuses both"),),
    needs=(
        (
            "-O (project_quota|inode_checksum|flexible_inline_xattr|inode_crtime|compression)",
            "-O extra_attr",
            "mkfs.f2fs refuses it without",
        ),
    ),
    fsck="fsck.f2fs -f --dry-run",
    errors=r"F2FS-fs \(.*\): .*(error|corrupt|inconsisten|invalid|bug|stop)",
    # some kernels omit it
    hidden={"barrier": "nobarrier"},
    # the node inode, and the meta inode, which has SIT, NAT and checkpoint
    inodes={1: "inode/node", 2: None},
    inline_data=True,
    # fs/f2fs/gc.c, f2fs_start_gc_thread
    threads={"f2fs_gc-": "garbage collection"},
    collects=True,
    # CP_* of fs/f2fs/f2fs.h
    checkpoint_reasons=(
        *("umount", "fastboot", "sync", "recovery", "discard"),
        *("trimmed", "pause", "resize"),
    ),
    colors={"F2FS": "#009E73"},
)
