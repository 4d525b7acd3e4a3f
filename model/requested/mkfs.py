"""What may be requested of mkfs, and whether it made that: read back from the superblock."""

import re

from model import filesystems
from model.cell import Cell
from model.filesystems import Superblock


def patterns(kind: str) -> list[str]:
    """What a word of `words` must match as a whole."""
    return [re.escape(option) + value for option, value in filesystems.by_name(kind).mkfs.allowed.items()]


def allowed(kind: str) -> str:
    """The options that mkfs may be given, in words."""
    return " ".join(sorted(filesystems.by_name(kind).mkfs.allowed))


def refused(kind: str, options: str) -> list[str]:
    """The words that mkfs may not be given."""
    return [
        word
        for word in words(kind, options)
        if not any(re.fullmatch(pattern, word) for pattern in patterns(kind))
    ]


def words(kind: str, options: str) -> list[str]:
    """Options as mkfs takes them, each with its value in one word: none can stand for a device."""
    given, flags = iter(options.split()), filesystems.by_name(kind).mkfs.flags
    return [word if word in flags or len(word) > 2 else word + next(given, "") for word in given]


def parts(kind: str, options: str) -> list[str]:
    """Return each option with each value of its list by itself: `-O ^has_journal`, `-b 4096`, `-q`."""
    return [
        f"{word[:2]} {value}".rstrip()
        for word in words(kind, options)
        for value in (word[2:].split(",") if word not in filesystems.by_name(kind).mkfs.flags else [""])
    ]


def journalled(cell: Cell) -> bool:
    """Return whether a cell's filesystem is made with what it has of a journal."""
    fs = cell.profiles["fs"]
    given = parts(fs["type"], " ".join([*fs.get("mkfs", ()), cell.mkfs_options]))
    return not any(re.fullmatch(filesystems.by_name(fs["type"]).unjournalled, part) for part in given)


def requested(kind: str, options: str) -> dict[str, str]:
    """Options that leave a trace and their values, as mkfs takes those that are there twice."""
    how = filesystems.by_name(kind).mkfs
    found: dict[str, str] = {}
    for word in words(kind, options):
        if word in how.flags or re.fullmatch(how.untraced, word):
            continue
        name, value = word[:2], word[2:]
        if how.suboptions:
            parts = (part.partition("=") for part in value.split(","))
            found |= {f"{name} {part}": given for part, _, given in parts}
        elif name in how.adds and name in found:
            found[name] += f",{value}"
        else:
            found[name] = value
    return found


def effective(kind: str, name: str, value: str, superblock: Superblock) -> str | None:
    """What is in effect of an option and its value (`requested`); None: it cannot be told."""
    read = filesystems.by_name(kind).mkfs.read_back.get(name)
    return read(value, superblock) if read else None
