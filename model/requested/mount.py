"""What may be requested of mount.

A list of what is allowed, as a mount runs as root on somebody's board: none of these names another
device (loop, journal_dev), lets the kernel panic (errors=panic, abort), mounts something else
(bind, remount) or runs a program (the X- options of mount(8)). Each filesystem has its own in
model/filesystems/.
"""

import re

from model import filesystems

# mount(8), filesystem-independent options
_COMMON = ("(no|rel|strict)atime", "(no)?lazytime", "(no)?diratime", "sync", "dirsync")


def patterns(kind: str) -> list[str]:
    """What each option must match as a whole."""
    return [*_COMMON, *filesystems.by_name(kind).mount]


def key(kind: str, option: str) -> str:
    """Return the pattern of what an allowed option sets, the same for barrier=0 and nobarrier, and for
    noatime and relatime: a mount has one value of it."""
    bare = option.removeprefix("no")
    either = bare if bare != option and not refused(kind, [bare]) else option
    return next(pattern for pattern in patterns(kind) if re.fullmatch(pattern, either))


def refused(kind: str, options: list[str]) -> list[str]:
    """The options that mount may not be given."""
    return [
        option for option in options if not any(re.fullmatch(pattern, option) for pattern in patterns(kind))
    ]


def allowed(kind: str) -> str:
    """The options that mount may be given, in words: `(no)?` is with `no` before it or without."""
    return " ".join(patterns(kind))
