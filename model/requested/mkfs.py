"""Parse mkfs options: those refused, requested, and in effect by the superblock; is there a journal."""

import re

from model import filesystems
from model.cell import Cell
from model.filesystems import Superblock


def patterns(kind: str) -> list[str]:
    """Return the patterns of allowed words (`words`)."""
    return [re.escape(option) + value for option, value in filesystems.by_name(kind).mkfs.allowed.items()]


def allowed(kind: str) -> str:
    """Return the allowed options as text."""
    return " ".join(sorted(filesystems.by_name(kind).mkfs.allowed))


def refused(kind: str, options: str) -> list[str]:
    """Return the words of these options that are not allowed."""
    return [
        word
        for word in words(kind, options)
        if not any(re.fullmatch(pattern, word) for pattern in patterns(kind))
    ]


def words(kind: str, options: str) -> list[str]:
    """Return each option with its value as one word, so that no value can be taken for a device."""
    given, flags = iter(options.split()), filesystems.by_name(kind).mkfs.flags
    return [word if word in flags or len(word) > 2 else word + next(given, "") for word in given]


def parts(kind: str, options: str) -> list[str]:
    """Return each option with each single value of its list: `-O ^has_journal`, `-b 4096`, `-q`."""
    return [
        f"{word[:2]} {value}".rstrip()
        for word in words(kind, options)
        for value in (word[2:].split(",") if word not in filesystems.by_name(kind).mkfs.flags else [""])
    ]


def journalled(cell: Cell) -> bool:
    """Return whether a cell's filesystem has the journal of its type."""
    fs = cell.profiles["fs"]
    given = parts(fs["type"], " ".join([*fs.get("mkfs", ()), cell.mkfs_options]))
    return not any(re.fullmatch(filesystems.by_name(fs["type"]).unjournalled, part) for part in given)


def requested(kind: str, options: str) -> dict[str, str]:
    """Return option → value of those that can be read back; repeated options are combined as by mkfs."""
    facts = filesystems.by_name(kind).mkfs
    values: dict[str, str] = {}
    for word in words(kind, options):
        if word in facts.flags or re.fullmatch(facts.untraced, word):
            continue
        name, value = word[:2], word[2:]
        if facts.suboptions:
            parts = (part.partition("=") for part in value.split(","))
            values |= {f"{name} {part}": given for part, _, given in parts}
        elif name in facts.adds and name in values:
            values[name] += f",{value}"
        else:
            values[name] = value
    return values


def effective(kind: str, name: str, value: str, superblock: Superblock) -> str | None:
    """Return the value in effect for an option (`requested`); None: unknown."""
    read = filesystems.by_name(kind).mkfs.read_back.get(name)
    return read(value, superblock) if read else None
