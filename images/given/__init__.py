"""A kernel that a user has: KERNEL=deb:<file>, KERNEL=tree:<folder>. One module here for each kind.

It is looked at before anything is built. What is known of it afterwards is a profile like those of
experiments/kernel/; a cell has it, and no path. By its content (SHA-256) its place is found again, in this
process alone; artifacts.kernel keeps a copy.
"""

import functools
import importlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError, LabError
from base.paths import ROOT
from images.given.found import Found

FOLDER = Path(__file__).parent
OPTIONS = ROOT / "images/kernels/options.yml"
# hex digits of a content in a cell's `kernel`; its profile has them all
DIGITS = 12
# content → what was found, and where; of this process
_SEEN: dict[str, tuple[Found, Path]] = {}


@functools.cache
def kinds() -> tuple[str, ...]:
    """Every kind there is: what stands before the colon."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "found")))


def kind_of(profile: Mapping[str, Any]) -> str | None:
    """The kind of a kernel with that profile; None: one of experiments/kernel/."""
    return next((kind for kind in kinds() if kind in profile), None)


def split(text: str) -> tuple[str, str] | None:
    """(kind, path) of a value of KERNEL; None where it names no kernel of a user's."""
    kind, colon, path = text.partition(":")
    return (kind, path) if colon and kind in kinds() else None


# A grid makes hundreds of cells, and a package has 100 MB.
@functools.cache
def look(kind: str, path: str) -> tuple[str, dict[str, Any]]:
    """(what a cell calls it, its profile). BadInputError, with what is wrong, where it cannot be booted."""
    place = Path(path).expanduser().absolute()
    try:
        found: Found = importlib.import_module(f"{__name__}.{kind}").look(place)
        if missing := _lacking(found, load_yaml(OPTIONS)["board"]):
            shown = OPTIONS.relative_to(ROOT)
            raise BadInputError(f"its config lacks {missing}, which the virtual board needs ({shown})")
    except BadInputError as error:
        raise BadInputError(f"KERNEL={kind}:{path}: {error}") from error
    _SEEN[found.content] = found, place
    profile = {"description": found.what, "release": found.release, kind: found.content}
    if why := found.no_modules or _takes_none_of_ours(found.config):
        profile["no_modules"] = why
    return f"{kind}:{found.content[:DIGITS]}", profile


def lacking(profile: Mapping[str, Any], options: Iterable[str]) -> str:
    """Those of the options that a kernel of a user's lacks, in words; of any other nothing is known."""
    kind = kind_of(profile)
    return _lacking(_SEEN[profile[kind]][0], options) if kind and profile[kind] in _SEEN else ""


def _takes_none_of_ours(config: str) -> str | None:
    """Why a kernel of that config takes no module that is built for it here; None: it does."""
    for option, why in (
        ("MODULE_SIG_FORCE", "it loads signed modules alone"),
        ("CC_IS_CLANG", "it was built with clang, and modules of ours are with gcc"),
    ):
        if re.search(rf"^CONFIG_{option}=y$", config, re.MULTILINE):
            return f"{why} (CONFIG_{option})"
    return None


def _lacking(found: Found, options: Iterable[str]) -> str:
    has = set(re.findall(r"^CONFIG_(\w+)=[ym]$", found.config, re.MULTILINE))
    return ", ".join(f"CONFIG_{option}" for option in options if option not in has)


def parts(profile: Mapping[str, Any]) -> list[str]:
    """What the script of images/kernels/ for its kind is told of the kernel with that profile.

    LabError: it is of another call, which kept no copy, or it has changed since it was looked at.
    """
    kind = str(kind_of(profile))
    content = profile[kind]
    if content not in _SEEN:
        raise LabError(
            f"the kernel {profile['release']} ({kind}:{content[:DIGITS]}) is not in the cache, and this call "
            "was not told where it is; give KERNEL= its path again"
        )
    found, place = _SEEN[content]
    module = importlib.import_module(f"{__name__}.{kind}")
    if module.look(place) != found:
        raise LabError(f"{place} has changed meanwhile; give KERNEL= its path again")
    words: list[str] = module.parts(place, found)
    return words
