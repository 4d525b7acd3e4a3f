"""What mkfs and mount are given: options that are allowed, and do not contradict each other."""

import re
from collections.abc import Mapping
from typing import Any

from analysis import mkfs, mount
from analysis.filesystems import find
from base.errors import BadInputError
from base.paths import EXPERIMENTS

# A part of the options, and the variable or file that gives it.
Part = tuple[str, str]


def check(cell: Mapping[str, Any]) -> None:
    """BadInputError where mkfs or mount may not be given an option, or two of them cannot both be."""
    fs, kind = cell["profiles"]["fs"], cell["profiles"]["fs"]["type"]
    file = f"{EXPERIMENTS}/fs/{cell['fs']}.yml"
    of_file = " ".join(fs["mkfs"])
    for where, options in ((f"MKFS_OPTIONS={cell['mkfs_options']}", cell["mkfs_options"]), (file, of_file)):
        if refused := mkfs.refused(kind, options):
            raise BadInputError(
                f"{where}: mkfs.{kind} may not be given {' '.join(refused)}; what it may, with values that "
                f"the superblock shows, is {mkfs.allowed(kind)} (analysis/filesystems/{kind}.py)"
            )
    given = [option for option in cell["mount_options"].split(",") if option]
    for where, mounted in ((f"MOUNT_OPTIONS={cell['mount_options']}", given), (file, fs["mount"])):
        if refused := mount.refused(kind, mounted):
            raise BadInputError(
                f"{where}: {kind} may not be mounted with {' '.join(refused)}; it may with "
                f"{mount.allowed(kind)} (analysis/filesystems/{kind}.py)"
            )
    name = f"FS={cell['fs']}"
    _once(kind, [*((part, name) for part in fs["mount"]), *((part, "MOUNT_OPTIONS") for part in given)])
    made = _made(kind, [(of_file, name), (cell["mkfs_options"], "MKFS_OPTIONS")])
    every = made + [(part, name) for part in fs["mount"]] + [(part, "MOUNT_OPTIONS") for part in given]
    _together(kind, every)


def _once(kind: str, options: list[Part]) -> None:
    """Refuse a mount option that is there twice: the last would be in effect, and the other asked for."""
    seen: dict[str, Part] = {}
    for part, source in options:
        key = _key(kind, part)
        if key in seen:
            other, first = seen[key]
            again = f"{first} mounts with it already" if part == other else f"{first} mounts with {other}"
            raise BadInputError(f"{source}: {part}: {again}; one of them is to go")
        seen[key] = part, source


def _key(kind: str, option: str) -> str:
    """Return what an option sets: `data` of data=ordered, `barrier` of nobarrier and barrier=0."""
    name = option.partition("=")[0]
    bare = name.removeprefix("no")
    both = bare != name and not mount.refused(kind, [bare])
    return bare if both else name


def _made(kind: str, options: list[tuple[str, str]]) -> list[Part]:
    """Return the parts of what mkfs is given. Of an option that is given twice it takes the last alone, so a
    list of features that would be forgotten is refused; a number may take the place of the file's."""
    words = [(word, source) for text, source in options for word in mkfs.words(kind, text)]
    lists = {"-O", "-m"}
    seen: dict[str, str] = {}
    for word, source in words:
        option = word[:2]
        if option in seen and (option in lists or seen[option] == source):
            raise BadInputError(
                f"{source}: {option} is given by {seen[option]} already, and mkfs.{kind} takes the last one "
                "alone: give all its values in one"
            )
        seen[option] = source
    last = {word[:2]: (word, source) for word, source in words}
    return [(part, source) for word, source in last.values() for part in mkfs.parts(kind, word)]


def _together(kind: str, parts: list[Part]) -> None:
    """Refuse two that exclude each other, one that lacks what it needs, and what no board mounts."""
    fs = find(kind)
    for first, second, why in fs.excluded:
        both = [*_like(first, parts)[:1], *_like(second, parts)[:1]]
        if len(both) == 2:
            # what the user asked for comes first
            (part, source), (other, where) = sorted(both, key=lambda one: one[1].startswith("FS="))
            fits = _fits(kind, first)
            raise BadInputError(f"{source}: {part} cannot be with {other} of {where}: {why}{fits}")
    for first, second, why in fs.needs:
        for part, source in _like(first, parts):
            if not _like(second, parts):
                shown = second.replace("\\", "").replace("?", "")
                raise BadInputError(f"{source}: {part} needs {shown}: {why}")
    for pattern, why in fs.unmountable.items():
        for part, source in _like(pattern, parts):
            raise BadInputError(f"{source}: {part}: {why}, or the board cannot mount it")


def _like(pattern: str, parts: list[Part]) -> list[Part]:
    return [(part, source) for part, source in parts if re.fullmatch(pattern, part)]


def _fits(kind: str, pattern: str) -> str:
    """Name the filesystems of experiments/fs that are made so, if one is."""
    from commitpath.axes import axes
    from commitpath.profiles import load_profile

    made = {name: load_profile("fs", name) for name in axes()["fs"].files()}
    parts = {
        name: [(part, "") for part in mkfs.parts(kind, " ".join(fs["mkfs"]))]
        for name, fs in made.items()
        if fs["type"] == kind
    }
    fit = [name for name, of_one in parts.items() if _like(pattern, of_one)]
    return f"; use FS={' or '.join(fit)}" if fit else ""
