"""What is built once and cached: image, build root, SQLite, driver, probes.

Each lives in .cache/ under a name that holds a hash of its inputs, appears only
when whole, and is built under a lock, so two commands at once build it once.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from base import scratch
from base.data import load_yaml
from base.errors import LabError
from base.paths import EXPERIMENTS, ROOT
from base.progress import step
from images.qemu import die_with_parent

CACHE = ROOT / (os.environ.get("COMMITPATH_CACHE") or ".cache")
IMAGES = ROOT / "images"
WORKLOADS = ROOT / "workloads"
# How long a build that is interrupted may take to delete up to 1.4 GB of its work.
TIDY_UP_SECONDS = 10.0
# What apt, a compiler and make say of what went wrong.
ERROR_LINE = re.compile(r"^(E|Err):|No space left|\berror: |\bERROR: |\*\*\*")


def hash_of(*parts: str, files: Iterable[Path] = ()) -> str:
    """First 12 hex digits of the SHA-256 of texts and of files' names and contents.

    Neither the folders count nor their order: a cache elsewhere has the same names.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    for name, content in sorted((file.name, file.read_bytes()) for file in files):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:12]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of an artefact; the kernel lets go of it when the holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with step(f"wait for another commitpath, which makes {path.name}"):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def need_space(mib: int, what: str) -> None:
    """LabError unless the cache's disk has room; a half-written artefact helps nobody."""
    CACHE.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(CACHE).free // 2**20
    if free < mib:
        raise LabError(f"no disk space to {what}: it takes up to {mib} MiB in {CACHE}, {free} MiB are free")


@contextlib.contextmanager
def whole(folder: Path, what: str, mode: int = scratch.OPEN) -> Iterator[Path]:
    """A folder to fill, which becomes FOLDER if the block ends well, and is gone if not.

    A failure with no disk space left says so, whatever else it says: a board whose memory
    has no room dies of a bus error.
    """
    with scratch.folder(folder.parent, folder.name, mode) as part:
        try:
            yield part
            scratch.keep(part, folder)
        except (LabError, OSError, subprocess.SubprocessError) as error:
            if shutil.disk_usage(part).free < 2**20:
                raise LabError(f"no disk space left in {part.parent} to {what}: {error}") from error
            raise


def work_folder() -> contextlib.AbstractContextManager[Path]:
    """A folder to build in, on the cache's disk; gone afterwards."""
    return scratch.folder(CACHE, "build")


def build_debian(script: str, path: Path, *arguments: str) -> None:
    """Run one of the scripts that make PATH of Debian's packages."""
    with work_folder() as work:
        # root of a user namespace is nobody to this folder
        work.chmod(0o755)
        made = work / path.name
        log = path.name.rpartition("-")[0]
        run([str(IMAGES / script), str(made), *arguments], log)
        made.rename(path)


def ensure(path: Path, what: str, build: Callable[[], None], mib: int) -> Path:
    """PATH, built under its lock if it is not there yet; mib: what it may need on disk."""
    if not path.exists():
        with locked(path):
            if not path.exists():
                need_space(mib, what)
                with step(what):
                    build()
    return path


def run(command: list[str], what: str) -> None:
    """A build step's command, its output in .cache/log/; LabError with its last words."""
    log = CACHE / "log" / f"{what}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # it tidies up, too, when a SIGKILL leaves nobody to tell it
                preexec_fn=lambda: die_with_parent(signal.SIGTERM),  # noqa: PLW1509 - a system call, no locks
            )
        except OSError as error:
            raise LabError(f"{what}: {command[0]}: {error.strerror}") from error
    try:
        code = process.wait()
    except BaseException:
        end_group(process)
        raise
    if code:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        errors = [line for line in lines if ERROR_LINE.search(line)]
        raise LabError(f"{what} failed: {(errors or lines or ['no output'])[0].strip()} (all of it: {log})")


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it started: told to, so that it can tidy up, and killed if it does not."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(TIDY_UP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def packages() -> list[str]:
    """The Debian packages that the filesystems need on the virtual board."""
    profiles = [load_yaml(path) for path in sorted((EXPERIMENTS / "fs").glob("*.yml"))]
    return sorted({package for profile in profiles for package in profile["packages"]})


def image() -> Path:
    """The virtual board's image folder."""
    inputs = [
        IMAGES / name
        for name in (
            "packages.txt",
            "build-image.sh",
            "image-hook.sh",
            "initramfs-init.sh",
            "inittab",
            "board-rc.sh",
        )
    ]
    more = ",".join(packages())
    path = CACHE / f"image-{hash_of(more, files=inputs)}"
    return ensure(
        path,
        "build the board's image (Debian 13, arm64)",
        lambda: build_debian("build-image.sh", path, more),
        mib=2500,  # measured: 700 for the root, as much for its image while it is built
    )


def build_root(board_image: Path) -> Path:
    """The Debian 13 root with the compilers, the board's kernel headers and its libbpf."""
    versions = board_image / "versions.txt"
    path = CACHE / f"build-root-{hash_of(files=[IMAGES / 'build-root.sh', versions])}"
    return ensure(
        path,
        "build the build root (compilers, kernel headers)",
        lambda: build_debian("build-root.sh", path, str(versions)),
        mib=2000,  # measured: 780 as a tar, 750 unpacked
    )


def sqlite(version: str) -> Path:
    """Folder with sqlite3.c and sqlite3.h of a release."""
    path = CACHE / "sqlite" / version
    return ensure(
        path,
        f"fetch SQLite {version}",
        lambda: run(
            [sys.executable, str(ROOT / "workloads/engines/sqlite/fetch.py"), version, str(path)],
            f"sqlite-{version}",
        ),
        mib=150,  # measured: 13 MB of source, 60 MB while it is turned into one file
    )


def build_folder(folder: Path, root: Path, sources: Iterable[Path], command: list[str], log: str) -> None:
    """Run a command over sources in the build root; FOLDER gets what it leaves in out/."""
    with whole(folder, f"build {folder.name}") as part, work_folder() as work:
        (work / "out").mkdir()
        for source in sources:
            shutil.copy(source, work)
        run([str(IMAGES / "in-root.sh"), str(root), str(work), *command], log)
        shutil.copytree(work / "out", part, dirs_exist_ok=True)


def flash_module() -> Path:
    """flashsim.ko, built for the board's kernel."""
    root = build_root(image())
    sources = [
        path for path in (IMAGES / "flash").iterdir() if path.suffix in (".c", ".h") or path.name == "Kbuild"
    ]
    folder = CACHE / f"flashsim-{hash_of(root.name, files=sources)}"
    headers = list((root / "usr/src").glob("linux-headers-*-arm64"))
    if len(headers) != 1:
        raise LabError(f"the flash model: {root}/usr/src has the headers of {len(headers)} arm64 kernels")
    kernel = headers[0].name.removeprefix("linux-headers-")
    make = f"make -C /usr/src/{headers[0].name} M=/work ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- modules"
    command = ["sh", "-c", f"{make} && mv flashsim.ko out/"]
    log = f"flashsim-for-{kernel}"
    ensure(folder, "build the flash model", lambda: build_folder(folder, root, sources, command, log), mib=20)
    return folder / "flashsim.ko"


def probes(board_image: Path) -> Path:
    """Tar of the recorder, the probes (NAME.bpf.o) and unlocked.so, for the board."""
    root = build_root(board_image)
    sources = [
        path for path in (ROOT / "probes").iterdir() if path.suffix in (".c", ".h") or path.name == "Makefile"
    ]
    folder = CACHE / f"probes-{hash_of(root.name, files=sources)}"
    command = ["make", "CC=aarch64-linux-gnu-gcc", "OUT=/work/out"]
    ensure(folder, "build the probes", lambda: build_folder(folder, root, sources, command, "probes"), mib=5)
    return folder / "probes.tar"


def sqlite_object(version: str, root: Path) -> Path:
    """A release of SQLite compiled for the board: the driver's own files change more often."""
    amalgamation = sqlite(version)
    rules = [WORKLOADS / "Makefile", WORKLOADS / "engines/sqlite/engine.mk"]
    key = hash_of(version, root.name, files=[*rules, amalgamation / "sqlite3.c"])
    path = CACHE / f"sqlite-{version}-{key}.o"

    def build() -> None:
        with work_folder() as work:
            copy_tree(rules, work)
            shutil.copytree(amalgamation, work / "sqlite")
            log = f"sqlite-{version}"
            made = make_driver(work, root, "library", log, ENGINE="sqlite", SQLITE_DIR="/work/sqlite")
            (made.with_name("driver.objects") / "sqlite3.o").rename(path)

    return ensure(path, f"compile SQLite {version}", build, mib=100)


def driver(cell: Mapping[str, Any], board_image: Path) -> Path:
    """The driver for the board, linked with the cell's engine."""
    engine, root = cell["engine"], build_root(board_image)
    sources = [
        path
        for folder in (WORKLOADS, WORKLOADS / "workloads", WORKLOADS / "engines" / engine)
        for path in folder.iterdir()
        if path.suffix in (".c", ".h", ".mk") or path.name == "Makefile"
    ]
    name, given = engine, {"LEVELDB_DIR": ""}
    compiled = None
    if engine == "sqlite":
        compiled = sqlite_object(cell["sqlite"], root)
        name, given = cell["sqlite"], {"SQLITE_DIR": "/work/sqlite", "LIBRARY": "/work/sqlite3.o"}
    key = hash_of(name, root.name, compiled.name if compiled else "", files=sources)
    path = CACHE / f"driver-{name}-{key}"

    def build() -> None:
        with work_folder() as work:
            copy_tree(sources, work)
            if compiled:
                shutil.copy(compiled, work / "sqlite3.o")
                shutil.copytree(sqlite(cell["sqlite"]), work / "sqlite")
            make_driver(work, root, "driver", f"driver-{name}", ENGINE=engine, **given).rename(path)

    return ensure(path, f"build the driver with {engine}", build, mib=20)


def copy_tree(sources: Iterable[Path], to: Path) -> None:
    """Files of workloads/, in the same folders below TO."""
    for source in sources:
        copy = to / source.relative_to(WORKLOADS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)


def make_driver(work: Path, root: Path, target: str, log: str, **variables: str) -> Path:
    """Make a target of workloads/Makefile in the build root; where the driver is, if it was that."""
    given = {"CC": "aarch64-linux-gnu-gcc", "OUT": "/work/out/driver", **variables}
    words = [f"{name}={value}" for name, value in given.items()]
    run([str(IMAGES / "in-root.sh"), str(root), str(work), "make", target, *words], log)
    return work / "out/driver"
