"""Copy sources of workloads/ and run make on them, in the build root or with this host's compiler."""

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from base.errors import LabError
from images import artifacts


@functools.cache
def hosts_compiler() -> str:
    """Return this host's C compiler. LabError if there is none."""
    try:
        done = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError(f"cc: {error}; `make host` installs it") from error
    return f"{os.uname().machine} {done.stdout.splitlines()[0]}"


def copy_tree(sources: Iterable[Path], to: Path) -> None:
    """Copy files of workloads/ to the same folders below TO."""
    for source in sources:
        copy = to / source.relative_to(artifacts.WORKLOADS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)


def make_in(work: Path, root: Path | None, words: Iterable[str], variables: Mapping[str, str]) -> list[str]:
    """Return the command that makes something in a folder, in the build root or on this host. Paths are
    relative, as the folder has another name in the build root."""
    if root:
        place = [str(artifacts.IMAGES / "in-root.sh"), str(root), str(work)]
        settings = {"CC": "aarch64-linux-gnu-gcc"}
    else:
        # settings of an outer make must not apply
        place = ["env", "-i", "-C", str(work), f"PATH={os.environ['PATH']}", "LC_ALL=C"]
        # little work: with -O0 an engine compiles in 4 s of CPU time, with -O1 in 13
        settings = {"CC": "cc", "CFLAGS": "-O0 -g -fPIC"}
    return [*place, "make", *words, *(f"{name}={value}" for name, value in {**settings, **variables}.items())]
