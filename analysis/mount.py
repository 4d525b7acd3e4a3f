"""What may be requested of mount.

A list of what is allowed, as a mount runs as root on somebody's board: none of these names another
device (loop, journal_dev), lets the kernel panic (errors=panic, abort), mounts something else
(bind, remount) or runs a program (the X- options of mount(8)). Each filesystem has its own in
analysis/filesystems/.
"""

from __future__ import annotations

import re

from analysis.filesystems import find

# mount(8), filesystem-independent options
_COMMON = ("noatime", "relatime", "strictatime", "(no)?lazytime", "(no)?diratime", "sync", "dirsync")


def patterns(kind: str) -> list[str]:
    """What each option must match as a whole."""
    return [*_COMMON, *find(kind).mount]


def refused(kind: str, options: list[str]) -> list[str]:
    """The options that mount may not be given."""
    return [
        option for option in options if not any(re.fullmatch(pattern, option) for pattern in patterns(kind))
    ]


def allowed(kind: str) -> str:
    """The options that mount may be given, in words: `(no)?` is with `no` before it or without."""
    return " ".join(patterns(kind))
