"""Inspect the kernel built in KERNEL=tree:<folder>: release, config, hash, if modules can be built for it.

The folder is a kernel's tree, or O= folder, in which `make ARCH=arm64 Image modules` was run. It is not
changed: images/kernels/tree.sh copies what is needed.
"""

import hashlib
import os
import re
from pathlib import Path

from base.errors import BadInputError
from images.given import Found, release_of
from images.given.deb import FIXDEP, MACHINES, host

IMAGE = "arch/arm64/boot/Image"
RELEASE = "include/config/kernel.release"
CONFIG = ".config"
# third line of the config
HEAD = re.compile(r"^# Linux/(\S+) \S+ Kernel Configuration$", re.MULTILINE)
# the built form of CONFIG
BUILT_CONFIG = "include/config/auto.conf"
MODULES = "modules.order"
SYMBOLS = "Module.symvers"
BUILT = (BUILT_CONFIG, RELEASE, IMAGE, MODULES, "modules.builtin", SYMBOLS)
MAKE = "`make ARCH=arm64 Image modules` in a kernel's tree makes it"
# magic number of an Image and its offset (Documentation/arch/arm64/booting.rst)
MAGIC, MAGIC_AT = b"ARM\x64", 56


def look(tree: Path) -> Found:
    """Inspect the kernel in a tree. BadInputError if there is no config of a kernel for the board."""
    if not tree.is_dir():
        raise BadInputError("no such folder; it must be a kernel's tree, or its O= folder, built for arm64")
    config = text(tree, CONFIG)
    if (head := HEAD.search(config)) and head[1] != "arm64":
        raise BadInputError(f"its {CONFIG} is for {head[1]}; the board is arm64")
    try:
        return built(tree, config)
    except BadInputError as error:
        digest = hashlib.sha256(config.encode()).hexdigest()
        return Found("a kernel's tree", "not built", digest, config, None, str(error))


def built(tree: Path, config: str) -> Found:
    """Inspect the kernel built in a tree. BadInputError if there is none, or not of this config."""
    for name in BUILT:
        text(tree, name, 0)
    if set_in(config) != set_in(text(tree, BUILT_CONFIG)):
        raise BadInputError(f"its {CONFIG} has changed since it was built; run `make` again")
    release = release_of(text(tree, RELEASE).strip(), RELEASE)
    image = (tree / IMAGE).read_bytes()
    if image[MAGIC_AT : MAGIC_AT + len(MAGIC)] != MAGIC:
        raise BadInputError(f"{IMAGE} is not an arm64 kernel")
    if b"Linux version %s (" % release.encode() not in image:
        raise BadInputError(f"{IMAGE} is not {release}, as in {RELEASE}; run `make` again")
    return Found("a kernel's build tree", release, content(tree), config, without_modules(tree, config))


def parts(tree: Path, found: Found) -> list[str]:
    """Return the arguments of tree.sh."""
    return [str(tree), *([] if found.no_modules else [str(source(tree))])]


def text(tree: Path, name: str, most: int = -1) -> str:
    """Return the first `most` characters of a file in a tree, or all. BadInputError if it is missing."""
    path = tree / name
    # reading a device has no end, and a pipe would block
    if path.exists() and not path.is_file():
        raise BadInputError(f"{name} is not a file")
    # a link may lead out of the tree; a build makes files
    if path.exists() and Path(os.path.realpath(path)) != Path(os.path.realpath(tree)) / name:
        raise BadInputError(f"{name} is a link, or in a linked folder; it must be in the tree itself")
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except FileNotFoundError as error:
        raise BadInputError(f"there is no {name} ({MAKE})") from error
    except OSError as error:
        raise BadInputError(f"{name} cannot be read: {error.strerror}") from error


def set_in(config: str) -> set[str]:
    """Return the options of a config that are y or m, with their values."""
    return set(re.findall(r"^CONFIG_\w+=[ym]$", config, re.MULTILINE))


def modules(tree: Path) -> list[Path]:
    """Return the built modules by their names in the tree. BadInputError if one is missing."""
    # older kernels prefix `kernel/`, later ones list the objects
    lines = text(tree, MODULES).split("\n")
    found = [Path(line.removeprefix("kernel/")).with_suffix(".ko") for line in lines if line]
    for path in found:
        if path.is_absolute() or ".." in path.parts:
            raise BadInputError(f"{MODULES} names {path}, which is not in the tree")
        text(tree, str(path), 0)
    return found


def content(tree: Path) -> str:
    """Return the SHA-256 of what is booted and what modules are linked with: names, sizes and contents."""
    digest = hashlib.sha256()
    for path in (Path(IMAGE), Path(CONFIG), Path(SYMBOLS), *sorted(modules(tree))):
        digest.update(f"{path}\0{(tree / path).stat().st_size}\0".encode())
        digest.update((tree / path).read_bytes())
    return digest.hexdigest()


def source(tree: Path) -> Path:
    """Return the folder with the kernel's source: the tree itself, or what an O= folder links to."""
    link = tree / "source"
    return link.resolve() if link.is_symlink() else tree


def without_modules(tree: Path, config: str) -> str | None:
    """Return why no module can be built for the kernel in a tree, or None if one can."""
    if not (source(tree) / "scripts/Kbuild.include").is_file():
        return f"there is no scripts/Kbuild.include in {source(tree)}, which has its source"
    types = ["vmlinux"] if "CONFIG_DEBUG_INFO_BTF=y" in set_in(config) else []
    for name in (FIXDEP, "scripts/mod/modpost", *types):
        if not (tree / name).is_file():
            return f"there is no {name} in it ({MAKE})"
    with (tree / FIXDEP).open("rb") as file:
        machine = MACHINES.get(file.read(20)[18:], "another machine")
    return None if machine == host() else f"{FIXDEP} in it is a program for {machine}; this host is {host()}"
