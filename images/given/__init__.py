"""Inspect a user's own kernel (KERNEL=deb:<file>, tree:<folder>): reject an unfit one, make its profile.

One module here for each kind. The kernel is inspected before anything is built. The result is a profile like
those of experiments/kernel/, which a cell has instead of a path. Within this process its place is found by
its content (SHA-256); artifacts.kernel keeps a copy.
"""

import functools
import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.errors import BadInputError, LabError
from base.paths import ROOT

FOLDER = Path(__file__).parent
OPTIONS = ROOT / "images/kernels/options.yml"
# hex digits of the content hash in a cell's `kernel`; its profile has all of them
DIGITS = 12


@dataclass(frozen=True)
class Found:
    """A kernel that was inspected but not unpacked."""

    what: str  # description for the reader
    release: str  # as in `uname -r`
    content: str  # SHA-256 in hex digits of everything that is booted
    config: str  # its .config
    no_modules: str | None  # why none of our modules can be built for it, or None
    unusable: str | None = None  # why it cannot be booted although its config can be read, or None


# content → kernel and its place, in this process
_SEEN: dict[str, tuple[Found, Path]] = {}


@functools.cache
def kinds() -> tuple[str, ...]:
    """Return every kind: the word before the colon."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))


def release_of(text: str, where: str) -> str:
    """Return a kernel's release after checking it, as it becomes part of a path. Raises BadInputError."""
    if not re.fullmatch(r"[0-9][\w.+~-]*", text):
        raise BadInputError(f"{where}: {text!r} is not a kernel release")
    return text


def kind_of(profile: Mapping[str, Any]) -> str | None:
    """Return the kind of a user's kernel by its profile; None for one of experiments/kernel/."""
    return next((kind for kind in kinds() if kind in profile), None)


def split(text: str) -> tuple[str, str] | None:
    """Return (kind, path) of a value of KERNEL, or None if it is not a user's kernel."""
    kind, colon, path = text.partition(":")
    return (kind, path) if colon and kind in kinds() else None


# Cached: a grid makes hundreds of cells, and a package has 100 MB.
@functools.cache
def look(kind: str, path: str) -> tuple[str, dict[str, Any]]:
    """Return (name in a cell, profile). BadInputError if there is no config of a kernel for the board."""
    place = Path(path).expanduser().absolute()
    try:
        if not path:
            raise BadInputError("a path must follow the colon")
        found: Found = importlib.import_module(f"{__name__}.{kind}").look(place)
    except BadInputError as error:
        raise BadInputError(f"KERNEL={kind}:{path}: {error}") from error
    _SEEN[found.content] = found, place
    profile = {"description": found.what, "release": found.release, kind: found.content}
    if why := found.no_modules or _takes_none_of_ours(found.config):
        profile["no_modules"] = why
    return f"{kind}:{found.content[:DIGITS]}", profile


def check(profile: Mapping[str, Any], needed: Mapping[str, Iterable[str]]) -> None:
    """Refuse a user's kernel that lacks options of its config, by what needs them, or cannot be booted.

    All missing options are named, also of a tree that is not built yet: a build takes tens of minutes.
    """
    kind = str(kind_of(profile))
    if profile[kind] not in _SEEN:
        return
    found, place = _SEEN[profile[kind]]
    has, lacks = set(re.findall(r"^CONFIG_(\w+)=[ym]$", found.config, re.MULTILINE)), []
    for what, options in needed.items():
        if missing := [option for option in options if option not in has]:
            lacks.append(f"{', '.join(f'CONFIG_{option}' for option in missing)} for {what}")
            has.update(missing)
    if reason := f"its config lacks {'; '.join(lacks)}" if lacks else found.unusable:
        raise BadInputError(f"KERNEL={kind}:{place}: {reason}")


def _takes_none_of_ours(config: str) -> str | None:
    """Return why a kernel with that config does not accept our modules; None if it does."""
    for option, why in (
        ("MODULE_SIG_FORCE", "it loads only signed modules"),
        ("CC_IS_CLANG", "it was built with clang, our modules with gcc"),
    ):
        if re.search(rf"^CONFIG_{option}=y$", config, re.MULTILINE):
            return f"{why} (CONFIG_{option})"
    return None


def parts(profile: Mapping[str, Any]) -> list[str]:
    """Return the arguments that the kind's script in images/kernels/ gets for a kernel.

    LabError if it was inspected by another command, which kept no copy, or has changed since.
    """
    kind = str(kind_of(profile))
    content = profile[kind]
    if content not in _SEEN:
        raise LabError(
            f"the kernel {profile['release']} ({kind}:{content[:DIGITS]}) is not in the cache, and this "
            "command does not know its path; give KERNEL= its path again"
        )
    found, place = _SEEN[content]
    module = importlib.import_module(f"{__name__}.{kind}")
    if module.look(place) != found:
        raise LabError(f"{place} has changed since it was inspected; give KERNEL= its path again")
    words: list[str] = module.parts(place, found)
    return words
