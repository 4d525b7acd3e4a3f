"""Programs of others for the board: SQLite's test programs and Mobibench, linked with its newest release."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from base.errors import LabError  # noqa: E402
from commitpath.cells.axes import newest  # noqa: E402
from images import artifacts, programs  # noqa: E402

ENGINE = "sqlite"
PROGRAMS = ("speedtest1", "kvtest")
MOBIBENCH = "https://github.com/ESOS-Lab/Mobibench"
MOBIBENCH_COMMIT = "f56ea5e98e5da6e68e25201863abfe353da1c841"
GIT_SECONDS = 60.0


def build(folder: Path) -> dict[str, Path]:
    """Build PROGRAMS in FOLDER, dynamically linked but for SQLite; name → path."""
    version = newest()
    folder.mkdir(parents=True, exist_ok=True)
    fetch = artifacts.WORKLOADS / "engines" / ENGINE / "fetch.py"
    wanted = [f"test/{name}.c" for name in PROGRAMS]
    subprocess.run([sys.executable, str(fetch), version, str(folder), "--only", *wanted], check=True)
    return {name: compiled(folder, name) for name in PROGRAMS}


def mobibench(folder: Path) -> Path:
    """Build Mobibench in FOLDER, its source as it is: of the clone that COMMITPATH_MOBIBENCH names, else
    fetched. LabError where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    clone = os.environ.get("COMMITPATH_MOBIBENCH") or str(folder / "mobibench.git")
    if not os.environ.get("COMMITPATH_MOBIBENCH"):
        git(["init", "-q", "--bare", clone])
        git(["-C", clone, "fetch", "-q", "--depth=1", MOBIBENCH, MOBIBENCH_COMMIT])
    source = git(["-C", clone, "show", f"{MOBIBENCH_COMMIT}:shell/mobibench.c"])
    (folder / "mobibench.c").write_bytes(source)
    return compiled(folder, "mobibench")


def git(words: list[str]) -> bytes:
    """What git prints; LabError with what it says of a failure."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, timeout=GIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"Mobibench: git {words[-2]}: no end within {GIT_SECONDS:.0f} s") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise LabError(f"Mobibench: {(said or ['git failed'])[-1]}")
    return done.stdout


def compiled(folder: Path, name: str) -> Path:
    """The program of FOLDER/NAME.c."""
    version = newest()
    root, sources = artifacts.build_root(), artifacts.release(ENGINE, version)
    shutil.copy(sources / "sqlite3.h", folder)
    shutil.copy(programs.release_object(ENGINE, version, root), folder / "sqlite3.o")
    # Mobibench calls functions that it does not declare
    permissive = ["-w", "-fpermissive"]
    compiler = [
        "aarch64-linux-gnu-gcc",
        "-O2",
        "-s",
        *permissive,
        "-I.",
        "-o",
        name,
        f"{name}.c",
        "sqlite3.o",
    ]
    in_root = [str(artifacts.IMAGES / "in-root.sh"), str(root), str(folder)]
    artifacts.run([*in_root, *compiler, "-lm", "-ldl", "-lpthread"], f"tool-{name}")
    return folder / name
