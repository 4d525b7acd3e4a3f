"""The program of trials of an engine: it kills a driver at each moment of a plan, and looks at a database.

On this host, as neither kernel nor device fails: what a board has (workloads/trials/kill.c), under ASan and
UBSan; in a folder in memory, where syncs take no time.
"""

import functools
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import NEWEST, WORKLOADS, binary_of, library
from made import make
from some_cell import some_cell

from analysis.adapters import drivertables
from images import artifacts
from model.crash_points import kill_points
from model.engines import by_name

SANITIZED = "CFLAGS=-O0 -g -DON_A_HOST -fsanitize=address,undefined -fno-sanitize-recover=all"


@functools.cache
def trials_of(engine: str) -> Path:
    """The program, which has what the engine's driver has of SQLite."""
    built = binary_of(engine).parent / f"trials-{engine}"
    linked = [f"LIBRARY={library(NEWEST)}", f"RELEASE_DIR={WORKLOADS / 'build/sqlite' / NEWEST}"]
    with artifacts.locked(built):
        words = linked if by_name(engine).has_sql else []
        make(WORKLOADS / "trials", f"OUT={built}", f"ENGINE={engine}", SANITIZED, *words)
    return built


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder whose syncs take no time, where this host has one."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else tmp_path) as folder:
        yield Path(folder)


def planned(folder: Path, cuts: int = 100_000) -> list[kill_points.Kill]:
    """The moments of the run whose results are in a folder: all of them, or so many."""
    calls = folder / "vfs.csv"
    ran: Any = SimpleNamespace(
        vfs=drivertables.calls(calls) if calls.is_file() else None,
        transactions=drivertables.transactions(folder / "transactions.csv"),
    )
    return kill_points.plan(some_cell(cuts=cuts, cut_seed=1), ran)


def killed(
    engine: str, folder: Path, plan: str, options: Sequence[object], sampled: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the driver once more for each line of a plan; the board's words for each are in killed.csv.

    sampled: trials whose files are kept.
    """
    (folder / "plan").write_text(plan)
    files = [folder / name for name in ("plan", "killed.csv", "files")]
    command = [trials_of(engine), "kill", *files, sampled, *options, "--output-dir", folder / "killed"]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def looked(engine: str, *options: object, env: dict[str, str] | None = None) -> dict[str, str]:
    """What is found in the database of a run with these options; the program must not fail."""
    command = [str(word) for word in (trials_of(engine), "look", "run", *options, "--output-dir", "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    names, values = (line.split(",") for line in done.stdout.splitlines())
    found = dict(zip(names, values, strict=True))
    # an assertion of the engine's, which Debian's LevelDB and LMDB have, has a line of its own
    assert found["signal"] != "0" or not done.stderr, done.stderr
    return found
