"""What mount may be asked for.

A list of what is allowed, as a mount runs as root on somebody's board: none of these names another
device (loop, journal_dev), lets the kernel panic (errors=panic, abort), mounts something else
(bind, remount) or runs a program (the X- options of mount(8)). Names and values:
Documentation/admin-guide/ext4.rst and Documentation/filesystems/f2fs.rst of Linux 6.12.
"""

from __future__ import annotations

import re

_NUMBER = "[0-9]+"
# mount(8), filesystem-independent options
_COMMON = ["noatime", "relatime", "strictatime", "(no)?lazytime", "(no)?diratime", "sync", "dirsync"]
_ALLOWED: dict[str, list[str]] = {
    "ext4": [
        *_COMMON,
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
        "dioread_(no)?lock",
        "(no)?discard",
        "(no)?block_validity",
        "(no)?user_xattr",
        "(no)?acl",
        f"(max|min)_batch_time={_NUMBER}",
        f"inode_readahead_blks={_NUMBER}",
        f"stripe={_NUMBER}",
        "errors=(continue|remount-ro)",
        "i_version",
    ],
    "f2fs": [
        *_COMMON,
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
    ],
}


def patterns(kind: str) -> list[str]:
    """What each option must match as a whole."""
    return _ALLOWED[kind]


def refused(kind: str, options: list[str]) -> list[str]:
    """The options that mount may not be given."""
    return [
        option for option in options if not any(re.fullmatch(pattern, option) for pattern in patterns(kind))
    ]


def allowed(kind: str) -> str:
    """The options that mount may be given, in words: `(no)?` is with `no` before it or without."""
    return " ".join(patterns(kind))
