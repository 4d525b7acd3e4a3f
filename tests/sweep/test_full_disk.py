"""No room for what a command writes, or a limit of files' size: one line, and all is as it was."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from lab import ROOT, Lab

# target and variables, where {} is the run's folder; and how many bytes a file may have
WRITERS = [
    ("analyse RUN={}", (0, 20_000)),
    ("inspect RUN={}", (0, 20_000)),
    ("trace-export RUN={} FORMAT=all", (0, 20_000, 200_000)),
    ("ledger RUNS={} FIGURE={}/figure.svg", (0, 8_000)),
    ("ledger RUNS={} FIGURE={}/figure.png", (0,)),
    ("export FILE={}/export.sqlite LAB=here", (0, 20_000)),
    ("compare A=mode=wal B=mode=delete FILE={}/rows.csv", (0, 100)),
    ("results REBUILD=yes", (0, 20_000)),
]


def content(folder: Path) -> dict[str, bytes]:
    """Each file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def call(lab: Lab, target: str, given: dict[str, str], most: int) -> "subprocess.CompletedProcess[str]":
    """What make TARGET does where no file may have more than `most` bytes."""
    return subprocess.run(
        [sys.executable, "-m", "commitpath", target, *(f"{k}={v}" for k, v in given.items())],
        cwd=ROOT,
        env={**os.environ, "COMMITPATH_RESULTS": str(lab.results)},
        capture_output=True,
        text=True,
        check=False,
        # a write beyond it is an error, as one to a full disk is: Python ignores SIGXFSZ
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )


@pytest.mark.parametrize(("line", "limits"), WRITERS)
def test_a_full_disk_is_one_line_and_leaves_all_as_it_was(
    lab: Lab, line: str, limits: tuple[int, ...]
) -> None:
    folder = lab.recorded()
    for mode in ("wal", "delete") if line.startswith("compare") else ():
        lab.run(MODE=mode)
    lab.ok("export", FILE=str(lab.results.parent / "named.sqlite"), LAB="here")
    lab.ok("results")
    target, *words = line.split()
    given = dict(word.replace("{}", str(folder)).split("=", 1) for word in words)
    before = content(lab.results)
    for most in limits:
        done = call(lab, target, given, most)
        said = [one for one in done.stderr.splitlines() if "analysed again" not in one]
        assert (done.returncode, len(said)) == (1, 1), done.stderr
        why = rf"(File too large|Input/output error \(.+\)): '{lab.results}/|disk I/O error"
        assert re.search(why, said[0]), said
        assert said[0].endswith(f" (`ulimit -f` limits a file to {most} bytes here)"), said
        assert content(lab.results) == before
