"""Build and cache workloads/: engine releases, drivers, crash checks, preloads, command runner, latencies."""

import functools
import shutil
from collections.abc import Iterable
from pathlib import Path

from base.data import load_yaml
from base.paths import EXPERIMENTS
from images import artifacts, compiling
from model.cell import Cell

# The driver includes its libc, to run on boards with an older one. Position-independent, so that its exports
# are only in its dynamic symbols; stripped, as a board receives it over an emulated CPU's SSH.
LINKED = "-static-pie -s"


def release_object(engine: str, version: str, root: Path | None) -> Path:
    """Return an engine's release compiled for the board (separately, as the driver's files change more
    often), or for this host without a build root."""
    sources, by = artifacts.release(engine, version), root.name if root else compiling.hosts_compiler()
    folder = artifacts.WORKLOADS / "engines" / engine
    rules = [artifacts.WORKLOADS / name for name in ("Makefile", "operations.mk")]
    rules += [*folder.glob("*.mk"), *folder.glob("extensions/*")]
    files = list(sources.glob("**/*.c"))
    path = artifacts.CACHE / f"{engine}-{version}-{artifacts.hash_of(version, by, files=[*rules, *files])}.o"

    def build() -> None:
        with artifacts.work_folder() as work:
            compiling.copy_tree(rules, work)
            shutil.copytree(sources, work / "release")
            log = f"{engine}-{version}"
            made = make_driver(work, root, "library", log, ENGINE=engine, RELEASE_DIR="release")
            (compiled,) = made.with_name("driver.objects").glob("*.o")
            compiled.rename(path)

    what = f"compile {engine} {version}" + ("" if root else " for this host")
    return artifacts.ensure(path, what, build, mib=100)


def release_library(engine: str, version: str) -> Path:
    """Return an engine's release as a shared library for this host."""
    compiled = release_object(engine, version, None)
    path = compiled.with_suffix(".so")

    def build() -> None:
        with artifacts.work_folder() as work:
            made = work / path.name
            command = ["cc", "-shared", "-o", str(made), str(compiled), "-lpthread", "-lm"]
            artifacts.run(command, f"{engine}-{version}-here")
            made.rename(path)

    return artifacts.ensure(path, f"link {engine} {version} for this host", build, mib=20)


# Cached: a grid makes hundreds of cells. Callers do not modify the result.
@functools.cache
def made_of(engine: str) -> list[str]:
    """Return the engines that a driver contains, itself first; releases of the last one are fetched."""
    profile = load_yaml(EXPERIMENTS / "engine" / f"{engine}.yml")
    return [engine, *made_of(profile["made_of"])] if "made_of" in profile else [engine]


def sources_in(folders: Iterable[str]) -> list[Path]:
    """Return the sources in folders of workloads/, and the table of operations."""
    paths = [path for folder in folders for path in (artifacts.WORKLOADS / folder).iterdir()]
    sources = [path for path in paths if path.suffix in (".c", ".cc", ".h", ".mk") or path.name == "Makefile"]
    return [*sources, artifacts.WORKLOADS / "operations.yml"]


def fetch(cell: Cell) -> None:
    """Fetch the release of the cell's engine that its driver is compiled with, if there is one."""
    axis = load_yaml(EXPERIMENTS / "engine" / f"{cell.engine}.yml").get("release")
    # the folder of a user's own is known to the command that was given it
    if axis and artifacts.OWN not in (version := str(cell.value(axis))):
        artifacts.release(made_of(cell.engine)[-1], version)


def driver(cell: Cell) -> Path:
    """Return the driver for the board, linked with the cell's engine."""
    engine, root = cell.engine, artifacts.build_root()
    profile = load_yaml(EXPERIMENTS / "engine" / f"{engine}.yml")
    parts = made_of(engine)
    sources = sources_in(
        ["", "workloads", *profile.get("shares", []), *(f"engines/{part}" for part in parts)]
    )
    name, given = engine, {"ENGINE_ROOT": "", "LDFLAGS": LINKED}
    compiled = version = None
    if axis := profile.get("release"):
        version = cell.value(axis)
        name = version if len(parts) == 1 else f"{engine}-{version}"
        compiled = release_object(parts[-1], version, root)
        given |= {"RELEASE_DIR": "release", "LIBRARY": "release.o"}
    words = [name, root.name, compiled.name if compiled else "", LINKED]
    if patched := compiling.patched_library(cell, root):
        words.append(patched.name)
        given["ENGINE_ROOT"] = "patched"
    key = artifacts.hash_of(*words, files=sources)
    path = artifacts.CACHE / f"driver-{name}-{key}"

    def build() -> None:
        with artifacts.work_folder() as work:
            compiling.copy_tree(sources, work)
            if compiled and version:
                shutil.copy(compiled, work / "release.o")
                shutil.copytree(artifacts.release(parts[-1], version), work / "release")
            if patched:
                shutil.copytree(patched, work / "patched")
            make_driver(work, root, "driver", f"driver-{name}", ENGINE=engine, **given).rename(path)

    return artifacts.ensure(path, f"build the driver with {engine}", build, mib=20)


def trials_folders(engine: str) -> list[str]:
    """Return the folders of workloads/ with the checks of an engine's recovered databases: its own and those
    of its parts, or of an engine without SQL those that all of these share."""
    # it loads Polars, which a short answer does without
    from model import engines

    folders = [f"engines/{part}/trials" for part in made_of(engine)]
    if not engines.by_name(engine).has_sql:
        folders.append("trials/keys")
    return [folder for folder in folders if (artifacts.WORKLOADS / folder).is_dir()]


def trials(cell: Cell, here: bool = False) -> Path:
    """Return the program that checks recovered databases, with the cell's engine. here: for this host."""
    engine, root = cell.engine, None if here else artifacts.build_root()
    profile = load_yaml(EXPERIMENTS / "engine" / f"{engine}.yml")
    parts = made_of(engine)
    folders = ["", "trials", "workloads", *profile.get("shares", []), *(f"engines/{part}" for part in parts)]
    sources = sources_in([*folders, *trials_folders(engine)])
    name, flags, compiled, version = engine, LINKED, None, None
    if axis := profile.get("release"):
        version = cell.value(axis)
        name = version if len(parts) == 1 else f"{engine}-{version}"
        compiled = release_object(parts[-1], version, root)
    by = compiled.name if compiled else root.name if root else compiling.hosts_compiler()
    name = f"{'looks' if here else 'trials'}-{name}"
    words = [name, by, flags]
    if patched := compiling.patched_library(cell, root):
        words.append(patched.name)
    path = artifacts.CACHE / f"{name}-{artifacts.hash_of(*words, files=sources)}"

    def build() -> None:
        with artifacts.work_folder() as work:
            compiling.copy_tree(sources, work)
            (work / "out").mkdir()
            given = {"OUT": "../out/trials", "ENGINE": engine, "LDFLAGS": flags, "ENGINE_ROOT": ""}
            if compiled and version:
                shutil.copy(compiled, work / "release.o")
                shutil.copytree(artifacts.release(parts[-1], version), work / "release")
                given |= {"RELEASE_DIR": "../release", "LIBRARY": "../release.o"}
            if patched:
                shutil.copytree(patched, work / "patched")
                given["ENGINE_ROOT"] = "../patched"
            artifacts.run(compiling.make_in(work, root, ["-C", "trials"], given), name)
            (work / "out/trials").rename(path)

    what = "build the check of recovered databases" + (", for this host" if here else "")
    return artifacts.ensure(path, what, build, mib=20)


def command() -> Path:
    """Return the program that runs a command on the board (workloads/command/)."""
    root, folder = artifacts.build_root(), artifacts.WORKLOADS / "command"
    sources = [*artifacts.WORKLOADS.glob("*.[ch]"), *folder.iterdir()]
    path = artifacts.CACHE / f"command-{artifacts.hash_of(root.name, LINKED, files=sources)}"
    words = ["command", f"LDFLAGS={LINKED}"]
    what = "build the command runner"
    return artifacts.ensure(path, what, lambda: make(path, root, sources, *words), mib=20)


def latencies(static: bool) -> Path:
    """Return the program that measures a device (workloads/latencies/); static: for boards with any libc."""
    root, folder = artifacts.build_root(), artifacts.WORKLOADS / "latencies"
    sources, flags = list(folder.iterdir()), LINKED if static else "-s"
    path = artifacts.CACHE / f"latencies-{artifacts.hash_of(root.name, flags, files=sources)}"
    words = ["latencies", f"LDFLAGS={flags}"]
    what = "build the program that measures a device"
    return artifacts.ensure(path, what, lambda: make(path, root, sources, *words), mib=20)


def preloads() -> dict[str, Path]:
    """Return the preloads that record engines' transactions in a command's processes, by engine."""
    return {path.parent.name: preload(path) for path in sorted(artifacts.WORKLOADS.glob("engines/*/preload"))}


def preload(folder: Path) -> Path:
    """Return the library made from an engine's preload/."""
    root, engine = artifacts.build_root(), folder.parent.name
    names = ("command/Makefile", "command/transactions.h", "clock.h", "fail.h")
    sources = [*(artifacts.WORKLOADS / name for name in names), *folder.parent.glob("*.h"), *folder.iterdir()]
    path = artifacts.CACHE / f"preload-{engine}-{artifacts.hash_of(root.name, files=sources)}"
    words = ["command", "preload", f"ENGINE={engine}"]
    what = f"build the preload for {engine}'s transactions"
    return artifacts.ensure(path, what, lambda: make(path, root, sources, *words), mib=20)


def make(path: Path, root: Path, sources: Iterable[Path], folder: str, *words: str) -> None:
    """Make PATH with the Makefile of a folder of workloads/ in the build root; words: for make."""
    with artifacts.work_folder() as work:
        compiling.copy_tree(sources, work)
        command = compiling.make_in(work, root, ["-C", folder, *words], {"OUT": "../out/made"})
        artifacts.run(command, path.name.rpartition("-")[0])
        (work / "out/made").rename(path)


def make_driver(work: Path, root: Path | None, target: str, log: str, **variables: str) -> Path:
    """Make a target of workloads/Makefile; return the driver's path."""
    artifacts.run(compiling.make_in(work, root, [target], {"OUT": "out/driver", **variables}), log)
    return work / "out/driver"
