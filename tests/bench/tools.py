"""SQLite's own test programs for the board: the sources of the newest release, linked with it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from commitpath.axes import releases  # noqa: E402
from images import artifacts  # noqa: E402

ENGINE = "sqlite"
PROGRAMS = ("speedtest1", "kvtest")


def build(folder: Path) -> dict[str, Path]:
    """Build PROGRAMS in FOLDER, dynamically linked but for SQLite; name → path."""
    version = next(iter(releases()))
    root, sources = artifacts.build_root(), artifacts.release(ENGINE, version)
    folder.mkdir(parents=True, exist_ok=True)
    fetch = artifacts.WORKLOADS / "engines" / ENGINE / "fetch.py"
    wanted = [f"test/{name}.c" for name in PROGRAMS]
    subprocess.run([sys.executable, str(fetch), version, str(folder), "--only", *wanted], check=True)
    shutil.copy(sources / "sqlite3.h", folder)
    shutil.copy(artifacts.release_object(ENGINE, version, root), folder / "sqlite3.o")
    for name in PROGRAMS:
        compiler = [
            "aarch64-linux-gnu-gcc",
            "-O2",
            "-s",
            "-I.",
            "-o",
            name,
            f"{name}.c",
            "sqlite3.o",
            "-lm",
            "-ldl",
        ]
        command = [str(artifacts.IMAGES / "in-root.sh"), str(root), str(folder), *compiler, "-lpthread"]
        artifacts.run(command, f"tool-{name}")
    return {name: folder / name for name in PROGRAMS}
