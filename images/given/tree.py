"""KERNEL=tree:<folder>: where `make ARCH=arm64 Image modules` was run: a kernel's tree, or its O= folder.

The tree stays as it is: all that is needed is copied out of it (images/kernels/tree.sh).
"""

import hashlib
import os
import re
from pathlib import Path

from base.errors import BadInputError
from images.given.deb import FIXDEP, MACHINES, host
from images.given.found import Found, add, release_of

IMAGE = "arch/arm64/boot/Image"
RELEASE = "include/config/kernel.release"
CONFIG = ".config"
# its third line
HEAD = re.compile(r"^# Linux/(\S+) \S+ Kernel Configuration$", re.MULTILINE)
# what the build made of CONFIG
BUILT_CONFIG = "include/config/auto.conf"
MODULES = "modules.order"
SYMBOLS = "Module.symvers"
BUILT = (BUILT_CONFIG, RELEASE, IMAGE, MODULES, "modules.builtin", SYMBOLS)
MAKE = "`make ARCH=arm64 Image modules` in a kernel's tree makes it"
# the magic number of an Image, and where (Documentation/arch/arm64/booting.rst)
MAGIC, MAGIC_AT = b"ARM\x64", 56


def look(tree: Path) -> Found:
    """What is known of the kernel in a tree. BadInputError where none for the board is built there."""
    if not tree.is_dir():
        raise BadInputError("no such folder; it must be a kernel's tree, or its O= folder, built for arm64")
    config = text(tree, CONFIG)
    if (said := HEAD.search(config)) and said[1] != "arm64":
        raise BadInputError(f"its {CONFIG} is of a kernel for {said[1]}; the board is arm64")
    for name in BUILT:
        text(tree, name, 0)
    if set_in(config) != set_in(text(tree, BUILT_CONFIG)):
        raise BadInputError(f"its {CONFIG} has changed since it was built; `make` takes that in")
    release = release_of(text(tree, RELEASE).strip(), RELEASE)
    image = (tree / IMAGE).read_bytes()
    if image[MAGIC_AT : MAGIC_AT + len(MAGIC)] != MAGIC:
        raise BadInputError(f"{IMAGE} is no arm64 kernel")
    if b"Linux version %s (" % release.encode() not in image:
        raise BadInputError(f"{IMAGE} is not of {release}, which {RELEASE} has; `make` builds it anew")
    return Found("a kernel's build tree", release, content(tree), config, without_modules(tree, config))


def parts(tree: Path, found: Found) -> list[str]:
    """What tree.sh is told."""
    return [str(tree), *([] if found.no_modules else [str(source(tree))])]


def text(tree: Path, name: str, most: int = -1) -> str:
    """The first `most` characters of a file in a tree, or all. BadInputError where it is not there."""
    path = tree / name
    # a device has no end, and a pipe nobody who writes
    if path.exists() and not path.is_file():
        raise BadInputError(f"{name} is not a file")
    # a build makes files; a link may lead out of the tree
    if path.exists() and Path(os.path.realpath(path)) != Path(os.path.realpath(tree)) / name:
        raise BadInputError(f"{name} is a link, or behind one; what is copied is in the tree itself")
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except FileNotFoundError as error:
        raise BadInputError(f"there is no {name} ({MAKE})") from error
    except OSError as error:
        raise BadInputError(f"{name} cannot be read: {error.strerror}") from error


def set_in(config: str) -> set[str]:
    """The options of a config that are y or m, with that."""
    return set(re.findall(r"^CONFIG_\w+=[ym]$", config, re.MULTILINE))


def modules(tree: Path) -> list[Path]:
    """The modules that are built there, by their names in it. BadInputError: one of them is not."""
    # older kernels have `kernel/` in front, later ones name the objects
    lines = text(tree, MODULES).split("\n")
    found = [Path(line.removeprefix("kernel/")).with_suffix(".ko") for line in lines if line]
    for path in found:
        if path.is_absolute() or ".." in path.parts:
            raise BadInputError(f"{MODULES} names {path}, which is not in the tree")
        text(tree, str(path), 0)
    return found


def content(tree: Path) -> str:
    """SHA-256 of what is booted, and of what modules are linked with: each file with its name and size."""
    digest = hashlib.sha256()
    for path in (Path(IMAGE), Path(CONFIG), Path(SYMBOLS), *sorted(modules(tree))):
        digest.update(f"{path}\0{(tree / path).stat().st_size}\0".encode())
        add(digest, tree / path)
    return digest.hexdigest()


def source(tree: Path) -> Path:
    """Where the kernel's source is: the folder itself, or what an O= folder links to."""
    link = tree / "source"
    return link.resolve() if link.is_symlink() else tree


def without_modules(tree: Path, config: str) -> str | None:
    """Why no module can be built for the kernel in a tree; None: all is there."""
    if not (source(tree) / "scripts/Kbuild.include").is_file():
        return f"there is no scripts/Kbuild.include in {source(tree)}, which has its source"
    types = ["vmlinux"] if "CONFIG_DEBUG_INFO_BTF=y" in set_in(config) else []
    for name in (FIXDEP, "scripts/mod/modpost", *types):
        if not (tree / name).is_file():
            return f"there is no {name} in it ({MAKE})"
    with (tree / FIXDEP).open("rb") as file:
        machine = MACHINES.get(file.read(20)[18:], "another machine")
    return None if machine == host() else f"{FIXDEP} in it is a program for {machine}; this host is {host()}"
