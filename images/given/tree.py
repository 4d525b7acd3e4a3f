"""KERNEL=tree:<folder>: where `make ARCH=arm64 Image modules` was run.

The tree stays as it is: all that is needed is copied out of it (images/kernels/tree.sh).
"""

import hashlib
from pathlib import Path

from base.errors import BadInputError
from images.given.deb import FIXDEP, MACHINES, host
from images.given.found import Found, add

IMAGE = "arch/arm64/boot/Image"
RELEASE = "include/config/kernel.release"
CONFIG = ".config"
MODULES = "modules.order"
BUILT = (CONFIG, RELEASE, IMAGE, MODULES, "modules.builtin")
SYMBOLS = "Module.symvers"
MAKE = "`make ARCH=arm64 Image modules` in a kernel's tree makes it"


def look(tree: Path) -> Found:
    """What is known of the kernel in a tree. BadInputError where none for the board is built there."""
    if not tree.is_dir():
        raise BadInputError("no such folder; it must be a kernel's tree, built for arm64")
    for name in BUILT:
        if not (tree / name).is_file():
            raise BadInputError(f"there is no {name} ({MAKE})")
    config = (tree / CONFIG).read_text(errors="replace")
    release = (tree / RELEASE).read_text(errors="replace").strip()
    if not release or "/" in release or not release.isprintable():
        raise BadInputError(f"{RELEASE}: {release!r} is no kernel's release")
    return Found("a kernel's build tree", release, content(tree), config, without_modules(tree))


def parts(tree: Path, found: Found) -> list[str]:
    """What tree.sh is told."""
    return [str(tree), *([] if found.no_modules else ["headers"])]


def modules(tree: Path) -> list[Path]:
    """The modules that are built there, by their names in it. BadInputError: one of them is not."""
    lines = (tree / MODULES).read_text(errors="replace").split()
    # before 6.2 with `kernel/` in front; later ones name the objects
    found = [Path(line.removeprefix("kernel/")).with_suffix(".ko") for line in lines]
    for path in found:
        if not (tree / path).is_file():
            raise BadInputError(f"there is no {path}, which {MODULES} names ({MAKE})")
    return found


def content(tree: Path) -> str:
    """SHA-256 of what is booted: image, config and modules, each with its name."""
    digest = hashlib.sha256()
    for path in (Path(IMAGE), Path(CONFIG), *sorted(modules(tree))):
        digest.update(f"{path}\0{(tree / path).stat().st_size}\0".encode())
        add(digest, tree / path)
    return digest.hexdigest()


def without_modules(tree: Path) -> str | None:
    """Why no module can be built in a tree; None: all is there."""
    if not (tree / "scripts/Kbuild.include").is_file():
        return "its source is elsewhere (O=), and modules are built in a tree that has it"
    for name in (FIXDEP, "scripts/mod/modpost", SYMBOLS):
        if not (tree / name).is_file():
            return f"there is no {name} in it ({MAKE})"
    with (tree / FIXDEP).open("rb") as file:
        machine = MACHINES.get(file.read(20)[18:], "another machine")
    return None if machine == host() else f"{FIXDEP} in it is a program for {machine}; this host is {host()}"
