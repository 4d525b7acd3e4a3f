"""What the analysis must know of a filesystem: one module here for each, found by its name.

A module `<type>.py`, <type> being the name in /proc/mounts, has one value FILESYSTEM of the class
Filesystem. Whatever else differs from one filesystem to another is in playbooks/filesystems/<type>.sh
(what a board does with it), probes/<type>.bpf.c (what watches it) and experiments/fs/*.yml (its
options in an experiment). Nothing lists them.
"""

import functools
import importlib
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from base.errors import BadInput

Superblock = Mapping[str, str]
# (requested value, superblock) → the value in effect in its place, None if it cannot be told
ReadBack = Callable[[str, Superblock], str | None]
FOLDER = Path(__file__).resolve().parent


class UnknownFilesystemError(BadInput):
    """No module is named after that filesystem."""


@dataclass(frozen=True)
class Mkfs:
    """The options that mkfs may be given, and where the superblock shows what came of each.

    Each of `allowed` (option → what its value looks like) can be read back or leaves no trace; none
    names another device, writes over what is there, or takes the UUID that is our mark
    (playbooks/board/proof.py).
    """

    allowed: Mapping[str, str]
    read_back: Mapping[str, ReadBack]
    flags: frozenset[str]  # options without a value: they leave no trace
    untraced: str = "(?!)"  # pattern of the words with a value that leave no trace either
    # `-m crc=1,reflink=0` is two options, read back as `-m crc` and `-m reflink`
    suboptions: bool = False
    # options whose values add up where they are given several times; of another one the last is in effect
    adds: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Filesystem:
    """One filesystem, as the analysis reads it."""

    # what blkid calls it, and what else its mkfs makes
    signatures: tuple[str, ...]
    mkfs: Mkfs
    # patterns of the options that mount may be given, beside those of any filesystem (requested/mount.py)
    mount: tuple[str, ...]
    # pattern of the lines by which it tells the kernel's log that something is wrong
    errors: str
    # command that looks at one that is not mounted, whose device follows, and writes nothing; its exit status
    # is 0 where nothing is wrong
    fsck: str
    # (pattern, pattern, why), of parts of mkfs's options (mkfs.parts) and options of mount: two that exclude
    # each other
    excluded: tuple[tuple[str, str, str], ...] = ()
    # likewise: one that is there only with the other
    needs: tuple[tuple[str, str, str], ...] = ()
    # pattern of the part of mkfs's options that leaves its journal out
    unjournalled: str = "(?!)"
    # what such a part begins with → the numbers that may follow, and what these are, with the source
    limits: Mapping[str, tuple[Container[int], str]] = field(default_factory=dict)
    # what such a part begins with → how many MiB of the device each of that number needs, with the source
    each_mib: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    # pattern of a part of mkfs's options → why no board mounts what it makes
    unmountable: Mapping[str, str] = field(default_factory=dict)
    # what its layout needs beside superblock.txt (analysis/adapters/layouts/)
    files: tuple[str, ...] = ()
    # mount option → what no option of /proc/mounts begins with where it is in effect and not shown
    hidden: Mapping[str, str] = field(default_factory=dict)
    # whether its journal is written by commits, each of them recorded by its probe
    commits: bool = False
    # whether the page of a copy in its journal is that of the block it is a copy of
    copies_have_homes: bool = False
    # s after which one comes that nobody asks for, where no option `commit=` says otherwise
    commit_seconds: int = 0
    # inode number, of an inode that is no file of anybody's → the label of its pages, None: their region's
    inodes: Mapping[int, str | None] = field(default_factory=dict)
    # whether a file's first page may be kept in its inode, and so never be written by itself
    inline_data: bool = False
    # how the name of a thread of its own begins → why that writes (ledger_schema.py, NO_TRANSACTION)
    threads: Mapping[str, str] = field(default_factory=dict)
    # whether it has a garbage collector that moves pages of files
    collects: bool = False
    # names of the bits that say why a checkpoint was made
    checkpoint_reasons: tuple[str, ...] = ()
    # (options of /proc/mounts, superblock) → its data mode, None where that cannot be told
    data_mode: Callable[[tuple[str, ...], Superblock], str | None] | None = None
    # name in a paper's figure → colour
    colors: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def names() -> tuple[str, ...]:
    """Every filesystem there is."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_")))


@functools.cache
def by_name(kind: str) -> Filesystem:
    """The filesystem of that name. Raises UnknownFilesystemError."""
    if kind not in names():
        raise UnknownFilesystemError("model/filesystems", "", f"no filesystem {kind!r}", ", ".join(names()))
    found: Filesystem = importlib.import_module(f"{__name__}.{kind}").FILESYSTEM
    return found


def signatures() -> list[str]:
    """What blkid may call a filesystem that commitpath made."""
    return sorted({name for kind in names() for name in by_name(kind).signatures})


@functools.cache
def errors() -> re.Pattern[str]:
    """By which any filesystem, a board's root among them, says that something is wrong."""
    return re.compile("|".join(by_name(kind).errors for kind in names()))


def colors() -> dict[str, str]:
    """The colours of all filesystems in a paper's figures."""
    return {name: color for kind in names() for name, color in by_name(kind).colors.items()}


def words(bits: int, names: tuple[str, ...]) -> str:
    """The names of the bits that are set, or the number where none has a name."""
    named = [name for place, name in enumerate(names) if bits >> place & 1]
    return ", ".join(named) or str(bits)


def several(feature: str) -> str:
    """The pattern of a list of features, each with ^ or without."""
    return rf"\^?({feature})(,\^?({feature}))*"


def number(name: str) -> ReadBack:
    """A number that the superblock has under this name, also as `0x 1 : 1`."""

    def effective(_: str, superblock: Superblock) -> str | None:
        value = superblock.get(name)
        return None if value is None else value.rpartition(":")[2].strip()

    return effective


def features(name: str) -> ReadBack:
    """Of a list such as `extent,^has_journal` what is so."""

    def effective(asked: str, superblock: Superblock) -> str | None:
        value = superblock.get(name)
        if value is None:
            return None
        there = value.replace(",", " ").split()
        words = asked.split(",")
        return ",".join(word for word in words if (word.lstrip("^") in there) != word.startswith("^"))

    return effective
