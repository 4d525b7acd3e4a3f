"""Did mkfs make what it was asked for? Read back from the superblock that dumpe2fs or dump.f2fs printed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

Superblock = Mapping[str, str]

# Options that leave no trace: how much mkfs says, and whether it asks first.
_SILENT = {"ext4": {"-q", "-F", "-v"}, "f2fs": {"-q", "-f"}}
# Inode tables and journal are zeroed at once, or later: no field of the superblock says so.
_UNWRITTEN = ("lazy_itable_init=", "lazy_journal_init=")


def _field(name: str) -> Callable[[str, Superblock], str | None]:
    """A number that the superblock has under this name (dump.f2fs: `0x 1 : 1`)."""

    def effective(_: str, superblock: Superblock) -> str | None:
        value = superblock.get(name)
        return None if value is None else value.rpartition(":")[2].strip()

    return effective


def _features(name: str) -> Callable[[str, Superblock], str | None]:
    """Of a list such as `extent,^has_journal` what is so."""

    def effective(asked: str, superblock: Superblock) -> str | None:
        value = superblock.get(name)
        if value is None:
            return None
        there = value.replace(",", " ").split()
        words = asked.split(",")
        return ",".join(word for word in words if (word.lstrip("^") in there) != word.startswith("^"))

    return effective


def _journal(asked: str, superblock: Superblock) -> str | None:
    """`size=64` is MiB, which dumpe2fs prints as `64M`."""
    size = superblock.get("Total journal size", "")
    return f"size={size[:-1]}" if asked.startswith("size=") and size.endswith("M") else None


# Options with a value → what is in effect in its place, None if it cannot be told.
_READ_BACK: dict[str, dict[str, Callable[[str, Superblock], str | None]]] = {
    "ext4": {
        "-b": _field("Block size"),
        "-C": _field("Cluster size"),
        "-g": _field("Blocks per group"),
        "-G": _field("Flex block group size"),
        "-I": _field("Inode size"),
        "-J": _journal,
        "-O": _features("Filesystem features"),
    },
    "f2fs": {
        "-O": _features("superblock features"),
        "-s": _field("segs_per_sec"),
        "-z": _field("secs_per_zone"),
    },
}


def readable(kind: str) -> list[str]:
    """The options that can be read back."""
    return sorted(_READ_BACK.get(kind, {}))


def asked(kind: str, options: str) -> dict[str, str]:
    """Options that leave a trace and their values; of one that is there twice mkfs takes the last."""
    words = iter(shlex.split(options))
    found = {}
    for word in words:
        if word in _SILENT.get(kind, ()):
            continue
        name, value = word[:2], word[2:] or next(words, "")
        if name != "-E" or not all(part.startswith(_UNWRITTEN) for part in value.split(",")):
            found[name] = value
    return found


def compare(kind: str, options: str, superblock: Superblock) -> list[tuple[str, str, str | None]]:
    """(option, requested, in effect) of each option; None: it cannot be told."""
    known = _READ_BACK.get(kind, {})
    return [
        (name, value, known[name](value, superblock) if name in known else None)
        for name, value in asked(kind, options).items()
    ]
