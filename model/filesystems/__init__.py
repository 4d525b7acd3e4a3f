"""Class Filesystem: mkfs and mount options (allowed, conflicting, read back), errors, fsck; find one by name.

A module for each filesystem is named as in /proc/mounts and has one value FILESYSTEM. What a board does with
a filesystem is in playbooks/filesystems/<type>.sh, its probe in probes/<type>.bpf.c, its options in
experiments/fs/*.yml.
"""

import functools
import importlib
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from base.errors import FileError

Superblock = Mapping[str, str]
# (requested value, superblock) → the value in effect, None if unknown
ReadBack = Callable[[str, Superblock], str | None]
FOLDER = Path(__file__).resolve().parent


class UnknownFilesystemError(FileError):
    """No module of model/filesystems/ has this filesystem's name."""


@dataclass(frozen=True)
class Mkfs:
    """The allowed options of mkfs, and where the superblock shows their effect.

    Each of `allowed` (option → pattern of its value) can be read back or leaves no trace. None names another
    device, overwrites existing content, or sets the UUID, which is our mark (playbooks/board/proof.py).
    """

    allowed: Mapping[str, str]
    read_back: Mapping[str, ReadBack]
    flags: frozenset[str]  # options without a value, which leave no trace
    untraced: str = "(?!)"  # pattern of the options with a value that leave no trace
    # `-m crc=1,reflink=0` is two options, read back as `-m crc` and `-m reflink`
    suboptions: bool = False
    # options that accumulate if given several times; of others the last is in effect
    adds: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Filesystem:
    """The facts of one filesystem."""

    # its names in blkid, and those of others that its mkfs makes
    signatures: tuple[str, ...]
    mkfs: Mkfs
    # patterns of its allowed mount options, in addition to those of any filesystem (requested/mount.py)
    mount: tuple[str, ...]
    # pattern of its errors in the kernel's log
    errors: str
    # read-only check of an unmounted device, which follows; exit status 0: clean
    fsck: str
    # (pattern, pattern, why) of parts of mkfs's options (mkfs.parts) and mount options: two that exclude each
    # other
    excluded: tuple[tuple[str, str, str], ...] = ()
    # the same: the first requires the second
    needs: tuple[tuple[str, str, str], ...] = ()
    # pattern of the part of mkfs's options that omits the journal
    unjournalled: str = "(?!)"
    # beginning of such a part → allowed numbers, and their description with its source
    limits: Mapping[str, tuple[Container[int], str]] = field(default_factory=dict)
    # beginning of such a part → MiB of the device per unit of its number, with the source
    each_mib: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    # pattern of a part of mkfs's options → why no board can mount the result
    unmountable: Mapping[str, str] = field(default_factory=dict)
    # pattern of a mount option → why no run with it can be watched
    unwatched: Mapping[str, str] = field(default_factory=dict)
    # further files of its layout (analysis/adapters/layouts/)
    files: tuple[str, ...] = ()
    # default mount option that /proc/mounts may omit → beginning of the shown options that contradict it
    hidden: Mapping[str, str] = field(default_factory=dict)
    # whether its journal is written by commits, which its probe records
    commits: bool = False
    # whether a copy in its journal has the page of the copied block
    copies_have_homes: bool = False
    # s between periodic commits without a `commit=` option
    commit_seconds: int = 0
    # number of an internal inode → label of its pages, None: the label of their region
    inodes: Mapping[int, str | None] = field(default_factory=dict)
    # whether a file's first page may be kept in its inode, and so never be written by itself
    inline_data: bool = False
    # beginning of the name of one of its threads → why it writes (schemas/ledger.py, NO_TRANSACTION)
    threads: Mapping[str, str] = field(default_factory=dict)
    # whether it has a garbage collector that moves pages of files
    collects: bool = False
    # names of the bits of a checkpoint's reason
    checkpoint_reasons: tuple[str, ...] = ()
    # pattern of mount options with which a tick of the clock may change any command: boards of trials must
    # repeat a run to the instruction
    exact: str = "(?!)"
    # whether it has a device number of its own, so that a round of the flusher on it has no device
    anonymous: bool = False
    # (options of /proc/mounts, superblock) → its data mode, None if unknown
    data_mode: Callable[[tuple[str, ...], Superblock], str | None] | None = None
    # name in a paper's figure → colour
    colors: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all filesystems."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_")))


@functools.cache
def by_name(kind: str) -> Filesystem:
    """Return a filesystem. Raises UnknownFilesystemError."""
    if kind not in names():
        raise UnknownFilesystemError("model/filesystems", "", f"no filesystem {kind!r}", ", ".join(names()))
    filesystem: Filesystem = importlib.import_module(f"{__name__}.{kind}").FILESYSTEM
    return filesystem


def signatures() -> list[str]:
    """Return blkid's names of filesystems that commitpath makes."""
    return sorted({name for kind in names() for name in by_name(kind).signatures})


@functools.cache
def errors() -> re.Pattern[str]:
    """Return the pattern of errors of any filesystem in the kernel's log."""
    return re.compile("|".join(by_name(kind).errors for kind in names()))


def colors() -> dict[str, str]:
    """Return name → colour of all filesystems in a paper's figures."""
    return {name: color for kind in names() for name, color in by_name(kind).colors.items()}


def words(bits: int, names: tuple[str, ...]) -> str:
    """Return the names of the set bits, or the number if none has a name."""
    named = [name for place, name in enumerate(names) if bits >> place & 1]
    return ", ".join(named) or str(bits)


def several(feature: str) -> str:
    """Return the pattern of a list of features, each with or without ^."""
    return rf"\^?({feature})(,\^?({feature}))*"


def number(name: str) -> ReadBack:
    """Return a function that reads a number of the superblock, also in the form `0x 1 : 1`."""

    def effective(_: str, superblock: Superblock) -> str | None:
        value = superblock.get(name)
        return None if value is None else value.rpartition(":")[2].strip()

    return effective


def features(name: str) -> ReadBack:
    """Return a function that reads which of a list such as `extent,^has_journal` are in effect."""

    def effective(requested: str, superblock: Superblock) -> str | None:
        value = superblock.get(name)
        if value is None:
            return None
        has = value.replace(",", " ").split()
        words = requested.split(",")
        return ",".join(word for word in words if (word.lstrip("^") in has) != word.startswith("^"))

    return effective
