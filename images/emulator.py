"""Choose, build and find the virtual board's QEMU: Debian's, or the same release with a patch.

The patched one (images/patched-qemu/) loads the same snapshots and gives the same numbers in less time:
docs/explanation/emulator.md. No command requires it. COMMITPATH_EMULATOR (EMULATOR on make's command line)
chooses own or stock; by default, own if it is built.
"""

import contextlib
import functools
import os
import re
from pathlib import Path

from base.errors import BadInputError, LabError
from images import artifacts, qemu

FOLDER = artifacts.IMAGES / "patched-qemu"
# Version output of Debian's QEMU: QEMU's version and the package's.
DEBIANS = re.compile(r"QEMU emulator version ([0-9.]+) \(Debian ([^)]+)\)")
# Wall time of the default cell relative to Debian's: docs/explanation/emulator.md.
OF_STOCK = 0.6


@functools.cache
def patch() -> tuple[str, Path]:
    """Return Debian's version of the installed QEMU and its patch. LabError if there is none."""
    output = qemu.qemu_version()
    match = DEBIANS.fullmatch(output)
    if not match:
        raise LabError(f"the emulator is built from Debian's QEMU, but the installed one is {output!r}")
    release = ".".join(match[1].split(".")[:2])
    path = FOLDER / f"{release}.patch"
    if not path.is_file():
        releases = ", ".join(sorted(path.stem for path in FOLDER.glob("*.patch")))
        raise LabError(f"there is no patch for QEMU {match[1]}, only for {releases}; boards use Debian's")
    return match[2], path


def folder() -> Path:
    """Return the patched QEMU's folder, one per kind of CPU, as it is compiled for the host's."""
    version, path = patch()
    inputs = [path, *(FOLDER / name for name in ("build.sh", "compile.sh", "devices.mak"))]
    return artifacts.CACHE / f"emulator-{artifacts.hash_of(version, instructions(), files=inputs)}"


def instructions() -> str:
    """Return the host CPU's features as listed by its kernel: x86's flags, ARM's Features."""
    output = Path("/proc/cpuinfo").read_text()
    match = re.search(r"^(flags|Features)\s*:(.*)$", output, re.MULTILINE)
    return " ".join(sorted(match[2].split())) if match else output


def build() -> Path:
    """Return the patched QEMU, built if missing."""
    (version, path), made = patch(), folder()
    # its version output keeps the package's version
    name = f"Debian {version}, commitpath {made.name.rpartition('-')[2]}"
    # measured: 2600 MiB while it is built, 12 afterwards
    what = "build QEMU with our patch (up to 10 minutes on 2 CPUs)"
    words = ("patched-qemu/build.sh", version, str(path), name)
    return artifacts.ensure_debian(made, what, 4000, *words, installs=True)


def built() -> Path | None:
    """Return the patched QEMU if it is built."""
    with contextlib.suppress(LabError):
        program = folder() / qemu.QEMU
        return program if program.exists() else None
    return None


def can_be_built() -> bool:
    """Return whether it is missing and there is a patch for the installed QEMU."""
    with contextlib.suppress(LabError):
        return not (folder() / qemu.QEMU).exists()
    return False


@functools.cache
def chosen() -> str:
    """Return the program that starts a board's QEMU."""
    choice = os.environ.get("COMMITPATH_EMULATOR")
    if choice not in (None, "", "own", "stock"):
        raise BadInputError(f"COMMITPATH_EMULATOR={choice}: must be own or stock")
    program = None if choice == "stock" else built()
    if choice == "own" and not program:
        raise BadInputError("EMULATOR=own: not built; `make emulator` builds it")
    return str(program or qemu.QEMU)
