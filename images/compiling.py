"""Give the make command for workloads/ (build root or this host); build the patched library of an engine."""

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from base.data import load_yaml
from base.errors import LabError
from base.paths import EXPERIMENTS
from images import artifacts
from model.cell import Cell


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


def source(folder: Path) -> Path:
    """Return the patched source, as fetch.py of a folder makes it."""
    files = [folder / "fetch.py", *folder.glob("*.patch")]
    path = artifacts.CACHE / f"{folder.parent.name}-source-{artifacts.hash_of(files=files)}"
    what = f"fetch the source of {folder.parent.name}"
    return artifacts.ensure(path, what, lambda: artifacts.run_fetch(files[0], path, path.name), mib=100)


def root(library: str, of_board: Path | None) -> Path:
    """Return a folder for ENGINE_ROOT with the patched library. of_board: build root; None: for this host."""
    folder = artifacts.WORKLOADS / library / "patched"
    sources, by = source(folder), of_board.name if of_board else hosts_compiler()
    rules = [folder / "Makefile", artifacts.WORKLOADS / "packages.mk"]
    path = artifacts.CACHE / f"{library}-patched-{artifacts.hash_of(sources.name, by, files=rules)}"

    def build() -> None:
        with artifacts.work_folder() as work:
            copy_tree(rules, work)
            shutil.copytree(sources, work / "source")
            place = folder.relative_to(artifacts.WORKLOADS)
            up = Path(*[".." for _ in place.parts])
            given = {"OUT": str(up / "out"), "SOURCE": str(up / "source")}
            given |= {"ENGINE_ROOT": ""} if of_board else {}
            artifacts.run(make_in(work, of_board, ["-C", str(place)], given), f"{library}-patched")
            (work / "out").rename(path)

    what = f"compile {library} with our patch" + ("" if of_board else " for this host")
    return artifacts.ensure(path, what, build, mib=200)


def patched_library(cell: Cell, of_board: Path | None) -> Path | None:
    """Return the root with the patched library that a cell needs; None: it has Debian's."""
    patched = load_yaml(EXPERIMENTS / "engine" / f"{cell.engine}.yml").get("patched")
    if patched and any(cell.value(axis) in values for axis, values in patched["when"].items()):
        return root(patched["library"], of_board)
    return None
