"""What mkfs may be asked for, and whether it made that: read back from what dumpe2fs or dump.f2fs printed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

Superblock = Mapping[str, str]

# Options that leave no trace: how much mkfs says, and force, which runs of earlier releases had.
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

_NUMBER = r"[0-9]+"
# By name, as mke2fs takes bits too (feature_i3), and some make it no filesystem (journal_dev).
# e2fsprogs, lib/e2p/feature.c; f2fs-tools, lib/libf2fs.c (but device_alias, which names another device).
_EXT4_FEATURE = (
    "64bit|bigalloc|casefold|dir_index|dir_nlink|ea_inode|encrypt|ext_attr|extents?|extra_isize|fast_commit"
    "|filetype|flex_bg|has_journal|huge_file|inline_data|large_dir|large_file|meta_bg|metadata_csum"
    "|metadata_csum_seed|orphan_file|project|quota|resize_inode|sparse_super2?|stable_inodes"
    "|uninit_(bg|groups)|verity"
)
_F2FS_FEATURE = (
    "casefold|compression|encrypt|extra_attr|flexible_inline_xattr|inode_checksum|inode_crtime|lost_found"
    "|project_quota|quota|ro|sb_checksum|verity"
)
_LATER = f"({'|'.join(_UNWRITTEN)})[01]"


def _several(feature: str) -> str:
    """The pattern of a list of features, each with ^ or without."""
    return rf"\^?({feature})(,\^?({feature}))*"


# All that mkfs may be given: option → what its value looks like. Each can be read back or leaves no
# trace; none names another device (-J device=), writes over what is there (-F, -f), or takes the
# UUID that is our mark (playbooks/board/proof.py).
_ALLOWED: dict[str, dict[str, str]] = {
    "ext4": {
        "-q": "",
        "-v": "",
        **dict.fromkeys(("-b", "-C", "-g", "-G", "-I"), _NUMBER),
        "-E": f"{_LATER}(,{_LATER})*",
        "-J": f"size={_NUMBER}",
        "-O": _several(_EXT4_FEATURE),
    },
    "f2fs": {"-q": "", "-O": _several(_F2FS_FEATURE), "-s": _NUMBER, "-z": _NUMBER},
}


def patterns(kind: str) -> list[str]:
    """What a word of `words` must match as a whole."""
    return [re.escape(option) + value for option, value in _ALLOWED[kind].items()]


def allowed(kind: str) -> str:
    """The options that mkfs may be given, in words."""
    return " ".join(sorted(_ALLOWED[kind]))


def refused(kind: str, options: str) -> list[str]:
    """The words that mkfs may not be given."""
    return [
        word
        for word in words(kind, options)
        if not any(re.fullmatch(pattern, word) for pattern in patterns(kind))
    ]


def words(kind: str, options: str) -> list[str]:
    """Options as mkfs takes them, each with its value in one word: none can stand for a device."""
    given = iter(shlex.split(options))
    return [
        word if word in _SILENT.get(kind, ()) or len(word) > 2 else word + next(given, "") for word in given
    ]


def asked(kind: str, options: str) -> dict[str, str]:
    """Options that leave a trace and their values; of one that is there twice mkfs takes the last."""
    found = {}
    for word in words(kind, options):
        name, value = word[:2], word[2:]
        unwritten = name == "-E" and all(part.startswith(_UNWRITTEN) for part in value.split(","))
        if word not in _SILENT.get(kind, ()) and not unwritten:
            found[name] = value
    return found


def compare(kind: str, options: str, superblock: Superblock) -> list[tuple[str, str, str | None]]:
    """(option, requested, in effect) of each option; None: it cannot be told."""
    known = _READ_BACK.get(kind, {})
    return [
        (name, value, known[name](value, superblock) if name in known else None)
        for name, value in asked(kind, options).items()
    ]
