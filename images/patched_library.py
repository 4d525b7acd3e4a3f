"""Build an engine's library from Debian's source with a patch of ours, for the settings that the patch adds.

`patched` of experiments/engine/*.yml names the library and these settings. The patch, fetch.py and a Makefile
are in workloads/<library>/patched/. All other cells have Debian's binary.
"""

import shutil
import sys
from pathlib import Path

from base.data import load_yaml
from base.paths import EXPERIMENTS
from images import artifacts, compiling
from model.cell import Cell


def source(folder: Path) -> Path:
    """Return the patched source, as fetch.py of a folder makes it."""
    files = [folder / "fetch.py", *folder.glob("*.patch")]
    path = artifacts.CACHE / f"{folder.parent.name}-source-{artifacts.hash_of(files=files)}"
    command = [sys.executable, str(folder / "fetch.py"), str(path)]
    what = f"fetch the source of {folder.parent.name}"
    return artifacts.ensure(path, what, lambda: artifacts.run(command, path.name), mib=100)


def root(library: str, of_board: Path | None) -> Path:
    """Return a folder for ENGINE_ROOT with the patched library. of_board: build root; None: for this host."""
    folder = artifacts.WORKLOADS / library / "patched"
    sources, by = source(folder), of_board.name if of_board else compiling.hosts_compiler()
    rules = [folder / "Makefile", artifacts.WORKLOADS / "packages.mk"]
    path = artifacts.CACHE / f"{library}-patched-{artifacts.hash_of(sources.name, by, files=rules)}"

    def build() -> None:
        with artifacts.work_folder() as work:
            compiling.copy_tree(rules, work)
            shutil.copytree(sources, work / "source")
            place = folder.relative_to(artifacts.WORKLOADS)
            up = Path(*[".." for _ in place.parts])
            given = {"OUT": str(up / "out"), "SOURCE": str(up / "source")}
            given |= {"ENGINE_ROOT": ""} if of_board else {}
            artifacts.run(compiling.make_in(work, of_board, ["-C", str(place)], given), f"{library}-patched")
            (work / "out").rename(path)

    what = f"compile {library} with our patch" + ("" if of_board else " for this host")
    return artifacts.ensure(path, what, build, mib=200)


def needed(cell: Cell, of_board: Path | None) -> Path | None:
    """Return the root with the patched library that a cell needs; None: it has Debian's."""
    patched = load_yaml(EXPERIMENTS / "engine" / f"{cell.engine}.yml").get("patched")
    if patched and any(cell.value(axis) in values for axis, values in patched["when"].items()):
        return root(patched["library"], of_board)
    return None
