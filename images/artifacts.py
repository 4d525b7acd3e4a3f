"""Build and cache the board's parts: userland, kernels, images, build root, engine releases, modules, probes.

Each lives in .cache/ under a name with a hash of its inputs, appears only when complete, and is built under a
lock, so that concurrent commands build it once. programs.py builds what is made of workloads/.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from base import paths, scratch
from base.data import load_yaml
from base.errors import BadInputError, LabError
from base.paths import EXPERIMENTS, PYTHON, ROOT
from base.progress import step
from images import given, snapshot
from images.qemu import die_with_parent

CACHE = paths.CACHE
IMAGES = ROOT / "images"
WORKLOADS = ROOT / "workloads"
# Time for an interrupted build to delete up to 1.4 GB of its work.
TIDY_UP_SECONDS = 10.0
# Between the version and the content of a user's own release.
OWN = "+"
# (engine, release) → its sources by file name, of a user's own releases that this process was given
_OWN_SOURCES: dict[tuple[str, str], Mapping[str, bytes]] = {}
# By default npm's cache is in a home, which may not be writable.
NPM_CACHE = "npm_config_cache"
# A path that needs no quotes.
PLAIN = re.compile("[A-Za-z0-9/_.+-]+")
# Run as root of a user namespace in which this user is root. Root of mmdebstrap's own namespace has no rights
# of this user, so that it could not enter a home of mode 0700, Debian's default.
AS_ROOT = ("unshare", "--user", "--map-root-user", "--map-auto")
# For root, as mmdebstrap mounts /sys and /proc in what is removed later, also after a kill.
MOUNTS_APART = ("unshare", "--mount")
# Lines of output in which apt, a compiler or make report an error.
ERROR_LINE = re.compile(r"^(E|Err):|No space left|File too large|File size limit|\berror: |\bERROR: |\*\*\*")


def hash_of(*parts: str, files: Iterable[Path] = ()) -> str:
    """Return 12 hex digits of the SHA-256 of texts and of files' names and contents.

    It does not depend on folders or the order of files: a cache elsewhere has the same names.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    for name, content in sorted((file.name, file.read_bytes()) for file in files):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:12]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of an artefact; the kernel releases it when the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    place = path.with_name(path.name + scratch.LOCK)
    while True:
        with scratch.lock_file(place) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with step(f"wait for another commitpath, which makes {path.name}"):
                    fcntl.flock(lock, fcntl.LOCK_EX)
            if scratch.is_at(lock, place):
                yield
                return


def need_space(mib: int, what: str) -> None:
    """Raise LabError unless the cache's disk has MIB free, if need be without its oldest snapshots."""
    CACHE.mkdir(parents=True, exist_ok=True)
    snapshot.make_room(CACHE / "snapshots", mib)
    free = shutil.disk_usage(CACHE).free // 2**20
    if free < mib:
        raise LabError(f"no disk space to {what}: it takes up to {mib} MiB in {CACHE}, {free} MiB are free")


@contextlib.contextmanager
def whole(folder: Path, what: str, mode: int = scratch.OPEN) -> Iterator[Path]:
    """Yield a folder to fill, which becomes FOLDER if the block succeeds and is deleted otherwise.

    Any error on a full disk is reported as such: if its memory file cannot grow, a board dies of a bus error.
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
    """Yield a temporary folder on the cache's disk to build in."""
    return scratch.folder(CACHE, "build")


def ensure_debian(
    path: Path, what: str, mib: int, script: str, *arguments: str, installs: bool = False
) -> Path:
    """Return PATH, which a script of images/ makes from Debian packages if it is missing."""
    return ensure(path, what, lambda: build_debian(script, path, *arguments, installs=installs), mib)


def mounts_apart() -> tuple[str, ...]:
    """Return MOUNTS_APART; nothing for a root who may not, for whom mmdebstrap mounts nothing either."""
    done = subprocess.run([*MOUNTS_APART, "true"], capture_output=True, check=False)
    return () if done.returncode else MOUNTS_APART


def build_debian(script: str, path: Path, *arguments: str, installs: bool = False) -> None:
    """Run a script that makes PATH from Debian packages.

    installs: it also installs packages; for a user, mmdebstrap can do so only in a namespace of its own.
    """
    with work_folder() as work:
        # apt's and the namespace's other users have no rights of the owner here
        work.chmod(0o755)
        made = work / path.name
        log = path.name.rpartition("-")[0]
        # not /tmp, which may be small; mmdebstrap writes it into apt's configuration
        within = mounts_apart() if os.geteuid() == 0 else () if installs else AS_ROOT
        temporary = [f"TMPDIR={work}"] if within and PLAIN.fullmatch(str(work)) else []
        run(["env", *temporary, *within, str(IMAGES / script), str(made), *arguments], log)
        made.rename(path)


def ensure(path: Path, what: str, build: Callable[[], None], mib: int) -> Path:
    """Return PATH, built under its lock if missing; mib: disk space that it may need."""
    if not path.exists():
        with locked(path):
            if not path.exists():
                need_space(mib, what)
                with step(what):
                    build()
    return path


def run(command: list[str], what: str) -> None:
    """Run a build step with its output in .cache/log/; LabError has its first error line."""
    log = CACHE / "log" / f"{what}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # errors are recognized by their English words
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                start_new_session=True,
                # SIGTERM lets it clean up even if this process was killed
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
    """End a command and its children, if they still run: SIGTERM, so that they clean up, then SIGKILL."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(TIDY_UP_SECONDS)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# Cached, as most parts' names have it. Callers do not modify the result.
@functools.cache
def packages(*kinds: str) -> list[str]:
    """Return the Debian packages of the parts in these folders of experiments/ that any board may use."""
    profiles = [load_yaml(path) for kind in kinds for path in (EXPERIMENTS / kind).glob("*.yml")]
    every = [profile for profile in profiles if not profile.keys() & {"script", "own_board"}]
    return sorted({package for profile in every for package in profile["packages"]})


def userland(extra: Iterable[str] = ()) -> Path:
    """Return the userland: root.tar (the board's root without kernel modules) and versions.txt.

    extra: further Debian packages. BadInputError if one does not exist.
    """
    names = ("packages.txt", "build-userland.sh", "userland-hook.sh", "inittab", "board-rc.sh")
    more = ",".join([*packages("fs", "observer"), *extra])
    path = CACHE / f"userland-{hash_of(more, files=[IMAGES / name for name in names])}"
    if extra and not path.exists():
        check_packages(extra)
    # measured: 240 MiB as a tar, and 530 MiB of TMPDIR while it is built
    what = "build the board's userland (Debian 13, arm64)"
    return ensure_debian(path, what, 1000, "build-userland.sh", more)


def kernel(profile: Mapping[str, Any]) -> Path:
    """Return a kernel by its profile (experiments/kernel/*.yml, images/given/): vmlinuz, its modules and, if
    our modules can be built for it, its headers."""
    if kind := given.kind_of(profile):
        return given_kernel(kind, profile)
    release, suite = profile["release"], profile["suite"]
    words = [suite, "frozen"] if profile.get("frozen") else [suite]
    inputs = [IMAGES / "kernels" / name for name in ("debian.sh", "debian-hook.sh", "deb.sh", "unneeded.txt")]
    path = CACHE / f"kernel-{release}-{hash_of(*words, files=inputs)}"
    # measured: 180 to 280 MiB, and thrice that while it is unpacked
    what = f"fetch the kernel {release} (Debian's {suite})"
    return ensure_debian(path, what, 1200, "kernels/debian.sh", *words)


def check_packages(names: Iterable[str]) -> None:
    """Raise BadInputError if apt cannot find a package for the board; nothing is unpacked."""
    simulate = ["--variant=extract", "--arch=arm64", "--simulate", "--skip=chroot/mount", "--format=null"]
    try:
        run(["mmdebstrap", *simulate, f"--include={','.join(names)}", "trixie", "/dev/null"], "packages")
    except LabError as error:
        if not (unknown := re.search(r"Unable to locate package (\S+)", str(error))):
            raise
        raise BadInputError(f"PACKAGES: Debian trixie has no arm64 package {unknown[1]}") from error


def on_every_board() -> set[str]:
    """Return the Debian packages that every virtual board has."""
    lines = (IMAGES / "packages.txt").read_text().splitlines()
    return {*packages("fs", "observer"), *(line for line in lines if line and not line.startswith("#"))}


def kept(digest: str) -> Path:
    """Return the stored file with that SHA-256 (keep_given)."""
    return CACHE / f"given-{digest[:12]}"


def keep_given(content: bytes) -> str:
    """Store a user's file; return its SHA-256."""
    digest = hashlib.sha256(content).hexdigest()
    if not (path := kept(digest)).exists() or path.read_bytes() != content:
        with scratch.whole(path) as part:
            part.write_bytes(content)
    return digest


def given_kernel(kind: str, profile: Mapping[str, Any]) -> Path:
    """Return a copy of a user's kernel."""
    content, bare = profile[kind], "no_modules" in profile
    inputs = [IMAGES / "kernels" / name for name in (f"{kind}.sh", "unneeded.txt")]
    path = CACHE / f"kernel-{kind}-{hash_of(content, 'bare' if bare else 'headers', files=inputs)}"

    def build() -> None:
        build_debian(f"kernels/{kind}.sh", path, *given.parts(profile))
        try:
            given.parts(profile)
        except LabError:
            # it changed while it was copied
            shutil.rmtree(path)
            raise

    what = f"copy the kernel {profile['release']} ({kind}:{content[: given.DIGITS]})"
    return ensure(path, what, build, mib=1200)


def label(profile: Mapping[str, Any]) -> str:
    """Return a kernel's part of its artefacts' names."""
    return given.kind_of(profile) or str(profile["release"])


def image(profile: Mapping[str, Any], extra: Iterable[str] = ()) -> Path:
    """Return the board's image folder with a kernel: vmlinuz, initrd, root.img. extra: as for userland."""
    of_board, of_kernel = userland(extra), kernel(profile)
    inputs = [IMAGES / name for name in ("build-image.sh", "initramfs-init.sh", "initramfs-modules.sh")]
    path = CACHE / f"image-{label(profile)}-{hash_of(of_board.name, of_kernel.name, files=inputs)}"
    # measured: 350 MiB for the root, as much for its image while it is made
    what = f"make the board's image with the kernel {profile['release']}"
    return ensure_debian(path, what, 1500, "build-image.sh", str(of_board), str(of_kernel))


def build_root_folder() -> Path:
    """Return the folder of the build root, which may be missing."""
    return CACHE / f"build-root-{hash_of(*packages('engine'), files=[IMAGES / 'build-root.sh'])}"


def build_root() -> Path:
    """Return the Debian 13 root with the compilers and the board's libraries.

    It is independent of the userland, which a lab board does not need: libraries stay compatible within a
    Debian release.
    """
    what, more = "build the build root (compilers, libraries)", packages("engine")
    # measured: 740 MiB, and 1190 MiB of TMPDIR while it is built
    return ensure_debian(build_root_folder(), what, 2100, "build-root.sh", *more)


def run_fetch(script: Path, path: Path, log: str, *words: str) -> None:
    """Run a fetch.py, which writes a folder's files one by one; PATH appears only when complete."""
    with work_folder() as work:
        made = work / "made"
        npm_cache = os.environ.get(NPM_CACHE, work / "npm")
        run(
            ["env", f"TMPDIR={work}", f"{NPM_CACHE}={npm_cache}", *PYTHON, str(script), *words, str(made)],
            log,
        )
        made.rename(path)


def remember(engine: str, version: str, sources: Mapping[str, bytes]) -> str:
    """Return the name of a user's own release, `version+content`, known to `release` in this process."""
    digest = hashlib.sha256(b"".join(sources[name] for name in sorted(sources))).hexdigest()
    name = f"{version}{OWN}{digest[:12]}"
    _OWN_SOURCES[engine, name] = sources
    return name


def release(engine: str, version: str) -> Path:
    """Return a folder with the sources of an engine's release, as its fetch.py makes them.

    LabError if it is a user's own, which an earlier command was given and no cache has.
    """
    fetch = WORKLOADS / "engines" / engine / "fetch.py"
    path = CACHE / engine / f"{version}-{hash_of(files=[fetch])}"
    own = _OWN_SOURCES.get((engine, version))
    if OWN in version and own is None and not path.exists():
        raise LabError(
            f"the sources of {engine} {version} are not in the cache, and this command does not know their "
            f"folder; give {engine.upper()}= its path again"
        )

    def build() -> None:
        with work_folder() as tree:
            for name, content in (own or {}).items():
                (tree / name).write_bytes(content)
            words = [] if own is None else ["--tree", str(tree)]
            run_fetch(fetch, path, f"{engine}-{version}", *words, version.partition(OWN)[0])

    # measured: 13 MB of source, 60 MB while it is merged into one file
    return ensure(path, f"fetch {engine} {version}", build, mib=200)


def build_folder(
    folder: Path,
    root: Path,
    sources: Iterable[Path],
    command: list[str],
    log: str,
    headers: Path | None = None,
) -> None:
    """Run a command on sources in the build root; FOLDER gets its out/. headers: mounted as /usr/src."""
    with whole(folder, f"build {folder.name}") as part, work_folder() as work:
        (work / "out").mkdir()
        for source in sources:
            shutil.copy(source, work)
        seen = ["env", f"SOURCES={headers}"] if headers else []
        run([*seen, str(IMAGES / "in-root.sh"), str(root), str(work), *command], log)
        shutil.copytree(work / "out", part, dirs_exist_ok=True)


def module(source: Path, profile: Mapping[str, Any]) -> Path | None:
    """Return the kernel module of images/devices/<driver>/ or probes/<observer>/, if it has one."""
    name = source.name
    if not (source / "Kbuild").exists():
        return None
    root, of_kernel = build_root(), kernel(profile)
    sources = [path for path in source.iterdir() if path.suffix in (".c", ".h") or path.name == "Kbuild"]
    folder = CACHE / f"module-{name}-{hash_of(root.name, of_kernel.name, files=sources)}"
    (release,) = [path.name for path in (of_kernel / "lib/modules").iterdir()]
    headers = f"linux-headers-{release}"
    if not (of_kernel / "src" / headers).is_dir():
        raise LabError(f"{name}: there is no {headers} in {of_kernel}/src")
    cross = "aarch64-linux-gnu-"
    # a kernel's Makefile names the compiler of its own suite
    words = f"ARCH=arm64 CROSS_COMPILE={cross} CC={cross}gcc"
    make = f"make -C /usr/src/{headers} M=/work {words} modules"
    command = ["sh", "-c", f"{make} && mv {name}.ko out/"]
    what, log = f"build the kernel module {name}", f"{name}-for-{release}"
    with_headers = (folder, root, sources, command, log, of_kernel / "src")
    ensure(folder, what, lambda: build_folder(*with_headers), mib=20)
    return folder / f"{name}.ko"


def probes() -> Path:
    """Return a tar of the recorder, the probes (NAME.bpf.o) and preloads (NAME.so) for the board.

    They fit all kernels: BTF gives the running kernel's field offsets (CO-RE).
    """
    root = build_root()
    sources = [
        path for path in (ROOT / "probes").iterdir() if path.suffix in (".c", ".h") or path.name == "Makefile"
    ]
    folder = CACHE / f"probes-{hash_of(root.name, files=sources)}"
    command = ["make", "CC=aarch64-linux-gnu-gcc", "OUT=/work/out"]
    ensure(folder, "build the probes", lambda: build_folder(folder, root, sources, command, "probes"), mib=5)
    return folder / "probes.tar"
