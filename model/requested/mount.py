"""Patterns of allowed mount options; find those in a request that are not.

A mount runs as root on a user's board. No allowed option names another device (loop, journal_dev), makes the
kernel panic (errors=panic, abort), mounts something else (bind, remount) or runs a program (X- options).
"""

import re

from model import filesystems

# mount(8), filesystem-independent options
_COMMON = ("(no|rel|strict)atime", "(no)?lazytime", "(no)?diratime", "sync", "dirsync")


def patterns(kind: str) -> list[str]:
    """Return the patterns of allowed options."""
    return [*_COMMON, *filesystems.by_name(kind).mount]


def key(kind: str, option: str) -> str:
    """Return the pattern of the setting of an allowed option, the same for barrier=0 and nobarrier, and for
    noatime and relatime."""
    bare = option.removeprefix("no")
    either = bare if bare != option and not refused(kind, [bare]) else option
    return next(pattern for pattern in patterns(kind) if re.fullmatch(pattern, either))


def refused(kind: str, options: list[str]) -> list[str]:
    """Return the options that are not allowed."""
    return [
        option for option in options if not any(re.fullmatch(pattern, option) for pattern in patterns(kind))
    ]


def allowed(kind: str) -> str:
    """Return the allowed options as text; `(no)?`: with or without `no`."""
    return " ".join(patterns(kind))
