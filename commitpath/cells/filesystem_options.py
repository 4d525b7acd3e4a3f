"""Refuse MKFS_OPTIONS and MOUNT_OPTIONS that are not allowed, or contradict each other or the profile."""

import re
from collections.abc import Mapping
from typing import Any

from base.errors import BadInputError
from base.paths import EXPERIMENTS
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from model import filesystems
from model.cell import Cell
from model.requested import mkfs, mount

# A part of the options, and the variable or file that gives it.
Part = tuple[str, str]


def check(cell: Cell) -> None:
    """Refuse a cell's options of mkfs and mount. Raises BadInputError."""
    fs, kind = cell.profiles["fs"], cell.profiles["fs"]["type"]
    # run-once.sh and teardown.sh find the mount by its device's number
    if cell.clock != "virtual" and filesystems.by_name(kind).anonymous:
        raise BadInputError(
            f"FS={cell.fs}: a mount of {kind} does not have its device's number, by which a board is "
            f"unmounted with CLOCK={cell.clock}; use CLOCK=virtual on the virtual board, or another FS"
        )
    file = f"{EXPERIMENTS}/fs/{cell.fs}.yml"
    of_file = " ".join(fs["mkfs"])
    for where, options in ((f"MKFS_OPTIONS={cell.mkfs_options}", cell.mkfs_options), (file, of_file)):
        if refused := mkfs.refused(kind, options):
            raise BadInputError(
                f"{where}: mkfs.{kind} may not be given {' '.join(refused)}; what it may, with values that "
                f"the superblock shows, is {mkfs.allowed(kind)} (model/filesystems/{kind}.py)"
            )
    given = [option for option in cell.mount_options.split(",") if option]
    for where, mounted in ((f"MOUNT_OPTIONS={cell.mount_options}", given), (file, fs["mount"])):
        if refused := mount.refused(kind, mounted):
            raise BadInputError(
                f"{where}: {kind} may not be mounted with {' '.join(refused)}; it may with "
                f"{mount.allowed(kind)} (model/filesystems/{kind}.py)"
            )
    parts = _parts(cell, cell.fs, fs)
    if conflict := _conflict(kind, parts):
        (part, source), (_, other), wrong = conflict
        raise BadInputError(
            wrong + (_fits(cell, part) if other.startswith("FS=") and source != other else "")
        )
    for pattern, why in filesystems.by_name(kind).unmountable.items():
        for part, source in _like(pattern, parts):
            raise BadInputError(f"{source}: {part}: {why}; otherwise the board cannot mount it")
    for pattern, why in filesystems.by_name(kind).unwatched.items() if cell.probes else ():
        for part, source in _like(pattern, parts):
            raise BadInputError(f"{source}: {part} cannot be watched: {why}; use PROBES=none")


def _parts(cell: Cell, name: str, fs: Mapping[str, Any]) -> list[Part]:
    """Return all options of mkfs and mount with FS=NAME. Raises BadInputError if one would be ignored."""
    kind, given = fs["type"], [option for option in cell.mount_options.split(",") if option]
    mounted = [(part, f"FS={name}") for part in fs["mount"]] + [(part, "MOUNT_OPTIONS") for part in given]
    _once(kind, mounted)
    made = _made(kind, [(" ".join(fs["mkfs"]), f"FS={name}"), (cell.mkfs_options, "MKFS_OPTIONS")])
    _within(kind, made + mounted, cell.profiles["device"]["size_mib"])
    return made + mounted


def _once(kind: str, options: list[Part]) -> None:
    """Refuse a mount option that is given twice: only the last would be in effect."""
    seen: dict[str, Part] = {}
    for part, source in options:
        key = mount.key(kind, part)
        if key in seen:
            other, first = seen[key]
            again = f"{first} mounts with it already" if part == other else f"{first} mounts with {other}"
            raise BadInputError(f"{source}: {part}: {again}; remove one of them")
        seen[key] = part, source


def _made(kind: str, options: list[tuple[str, str]]) -> list[Part]:
    """Return the parts of mkfs's options.

    An option given twice is refused if mkfs would ignore one list or refuse it; a number may replace the
    profile's.
    """
    how = filesystems.by_name(kind).mkfs
    kept: dict[str, list[Part]] = {}
    for word, source in [(word, source) for text, source in options for word in mkfs.words(kind, text)]:
        if word in how.flags:
            kept[word] = [(word, source)]
            continue
        option = word[:2]
        others = kept.setdefault(option, [])
        if others and not (how.suboptions or option in how.adds):
            first = others[0][1]
            if option == "-O" or first == source:
                raise BadInputError(
                    f"{source}: {option} is given by {first} already, and mkfs.{kind} takes the last one "
                    "alone: give all its values in one"
                )
            others.clear()
        for part in mkfs.parts(kind, word):
            for other, first in others:
                if _set_by(other) == _set_by(part):
                    raise BadInputError(f"{source}: {part}: {first} has {other}; remove one of them")
            others.append((part, source))
    return [part for parts in kept.values() for part in parts]


def _set_by(part: str) -> str:
    """Return the setting of a part of mkfs's options: `-m crc` for `-m crc=0`, `-O quota` for `-O ^quota`."""
    return part.partition("=")[0].replace("^", "")


def _within(kind: str, parts: list[Part], device_mib: int) -> None:
    """Refuse a number that mkfs or the kernel refuses. device_mib: 0 if unknown."""
    fs = filesystems.by_name(kind)
    for part, source in parts:
        for begin, (allowed, what) in fs.limits.items():
            if part.startswith(begin) and int(part.removeprefix(begin)) not in allowed:
                raise BadInputError(f"{source}: {part}: it is {what}")
        for begin, (mib, why) in fs.each_mib.items():
            if device_mib and part.startswith(begin) and int(part.removeprefix(begin)) * mib > device_mib:
                raise BadInputError(f"{source}: {part}: {why}, and the device has {device_mib} MiB")


def _conflict(kind: str, parts: list[Part]) -> tuple[Part, Part, str] | None:
    """Return (part, part, message) of a conflict, the user's first; twice one that lacks what it needs."""
    fs = filesystems.by_name(kind)
    for first, second, why in fs.excluded:
        both = [*_like(first, parts)[:1], *_like(second, parts)[:1]]
        if len(both) == 2:
            users, other = sorted(both, key=lambda part: part[1].startswith("FS="))
            return users, other, f"{users[1]}: {users[0]} cannot be with {other[0]} of {other[1]}: {why}"
    for first, second, why in fs.needs:
        for part in _like(first, parts):
            if not _like(second, parts):
                shown = second.replace("\\", "").replace("?", "")
                return part, part, f"{part[1]}: {part[0]} needs {shown}: {why}"
    return None


def _like(pattern: str, parts: list[Part]) -> list[Part]:
    return [(part, source) for part, source in parts if re.fullmatch(pattern, part)]


def _fits(cell: Cell, part: str) -> str:
    """Return a hint: filesystems of that type that have the part, or accept all the user's options."""
    kind = cell.profiles["fs"]["type"]
    others = {name: load_profile("fs", name) for name in axes()["fs"].files() if name != cell.fs}
    fit = [
        name
        for name, fs in others.items()
        if fs["type"] == kind
        and (part in (*fs["mount"], *mkfs.parts(kind, " ".join(fs["mkfs"]))) or _takes(cell, name, fs))
    ]
    return f"; use FS={' or '.join(fit)}" if fit else ""


def _takes(cell: Cell, name: str, fs: Mapping[str, Any]) -> bool:
    """Return whether FS=NAME accepts the options of a cell."""
    try:
        return _conflict(fs["type"], _parts(cell, name, fs)) is None
    except BadInputError:
        return False
