"""Which QEMU a virtual board has: Debian's, or the same release with our patch (images/patched-qemu/).

Ours loads the snapshots of Debian's, and gives the same numbers in less time:
docs/explanation/emulator.md. No
command needs it. COMMITPATH_EMULATOR (EMULATOR on make's command line) chooses: own or stock; without
it, own where it is built.
"""

import functools
import os
import re
from pathlib import Path

from base.errors import BadInputError, LabError
from images import artifacts, qemu

FOLDER = artifacts.IMAGES / "patched-qemu"
# What Debian's QEMU says: its version, and that of the package.
DEBIANS = re.compile(r"QEMU emulator version ([0-9.]+) \(Debian ([^)]+)\)")
# Wall time of the default cell by ours, where Debian's takes 1: docs/explanation/emulator.md.
OF_STOCK = 0.6


@functools.cache
def patch() -> tuple[str, Path]:
    """(Debian's version of the QEMU that is installed, our patch for it). LabError where there is none."""
    said = qemu.qemu_version()
    found = DEBIANS.fullmatch(said)
    if not found:
        raise LabError(f"the emulator is built of Debian's QEMU, and here is {said!r}")
    release = ".".join(found[1].split(".")[:2])
    path = FOLDER / f"{release}.patch"
    if not path.is_file():
        known = ", ".join(sorted(path.stem for path in FOLDER.glob("*.patch")))
        raise LabError(f"there is no patch for QEMU {found[1]}, only for {known}; Debian's goes on as it is")
    return found[2], path


def folder() -> Path:
    """Where our QEMU is, or would be: one for each kind of CPU, as it is compiled for this host's."""
    version, path = patch()
    inputs = [path, *(FOLDER / name for name in ("build.sh", "compile.sh", "devices.mak"))]
    return artifacts.CACHE / f"emulator-{artifacts.hash_of(version, instructions(), files=inputs)}"


def instructions() -> str:
    """What the host's CPU can do, as its kernel says it: x86's flags, ARM's Features."""
    said = Path("/proc/cpuinfo").read_text()
    found = re.search(r"^(flags|Features)\s*:(.*)$", said, re.MULTILINE)
    return " ".join(sorted(found[2].split())) if found else said


def build() -> Path:
    """Our QEMU, built if it is not there."""
    (version, path), made = patch(), folder()
    # the package's version stays in what it says of itself
    name = f"Debian {version}, commitpath {made.name.rpartition('-')[2]}"
    return artifacts.ensure(
        made,
        "build QEMU with our patch (up to 10 minutes on 2 CPUs)",
        lambda: artifacts.build_debian("patched-qemu/build.sh", made, version, str(path), name),
        mib=4000,  # measured: 2600 while it is built, 12 afterwards
    )


def built() -> Path | None:
    """Our QEMU, if it is there."""
    try:
        program = folder() / qemu.QEMU
    except LabError:
        return None
    return program if program.exists() else None


def can_be_built() -> bool:
    """Whether it is not there, and there is a patch for what is."""
    try:
        return not (folder() / qemu.QEMU).exists()
    except LabError:
        return False


@functools.cache
def chosen() -> str:
    """The program that a board's QEMU is started by."""
    choice = os.environ.get("COMMITPATH_EMULATOR")
    if choice not in (None, "", "own", "stock"):
        raise BadInputError(f"COMMITPATH_EMULATOR={choice}: it is own or stock")
    found = None if choice == "stock" else built()
    if choice == "own" and not found:
        raise BadInputError("EMULATOR=own: it is not there; `make emulator` builds it")
    return str(found or qemu.QEMU)
