"""No room for what a command writes, or a limit of files' size: one line, and all is as it was."""

import errno
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from lab import ROOT, Lab

from commitpath.database import archive, exchange, store

# target and variables, where {} is the run's folder; and how many bytes a file may have: none, or what
# ends within one. The second are of `make test-long`.
WRITERS = [
    ("analyse RUN={}", (20_000,), (0,)),
    ("inspect RUN={}", (0,), (20_000,)),
    ("trace-export RUN={} FORMAT=all", (200_000,), (0, 20_000)),
    ("ledger RUNS={} FIGURE={}/figure.svg", (8_000,), (0,)),
    ("export FILE={}/export.sqlite LAB=here", (20_000,), (0,)),
    ("results REBUILD=yes", (20_000,), ()),
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


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Path]:
    """A lab with a recorded run, and the run's folder. A call that fails leaves both as they were."""
    lab = Lab(tmp_path_factory.mktemp("full") / "results")
    folder = lab.recorded()
    lab.ok("export", FILE=str(lab.results.parent / "named.sqlite"), LAB="here")
    lab.ok("results")
    return lab, folder


@pytest.mark.parametrize(("line", "limits"), [(line, limits) for line, limits, _ in WRITERS])
def test_a_full_disk_is_one_line_and_leaves_all_as_it_was(
    stored: tuple[Lab, Path], line: str, limits: tuple[int, ...]
) -> None:
    leaves_all(stored, line, limits)


@pytest.mark.parametrize(("line", "limits"), [(line, more) for line, _, more in WRITERS if more])
def test_a_disk_that_is_full_elsewhere(stored: tuple[Lab, Path], line: str, limits: tuple[int, ...]) -> None:
    leaves_all(stored, line, limits)


def leaves_all(stored: tuple[Lab, Path], line: str, limits: tuple[int, ...]) -> None:
    """With each limit the command fails with one line, and nothing differs."""
    lab, folder = stored
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


def test_a_label_is_not_kept_if_its_export_fails(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.run()
    lab.ok("results")
    monkeypatch.setattr(store, "DATABASE", lab.results / "results.sqlite")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(archive, "add", full)
    with pytest.raises(OSError, match="no space left"):
        exchange.export(lab.results / "x.tar.gz", "here", files=True)
    with store.opened(write=False) as connection:
        assert store.label(connection) == store.UNNAMED
    assert not (lab.results / "x.tar.gz").exists()
