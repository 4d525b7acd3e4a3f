"""EXECUTOR=slurm against a real Slurm of one machine. COMMITPATH_SLURM=no switches it off."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import kill
import one_slurm
import pytest
from lab import Lab

from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_id
from commitpath.host import packages

# the board is the one that kill.py prepares
CELLS = {"FS": "f2fs", "ROWS": "100", "N": "5", "PROBES": "none"}
GRID = """\
description: what Slurm runs
constants: {fs: f2fs, rows: 100, n: 5, probes: none}
axes:
  mode: [delete, wal]
"""
# the last one's board cannot be prepared
VARIANTS = """\
variants: [{mode: delete}, {mode: wal}, {mode: truncate, mkfs_options: '-s 100000'}]
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], dict[str, str]]]:
    """A running Slurm that `make` finds; machine(): what its jobs were for → how each ended."""
    if not packages.slurm_wanted():
        pytest.skip("COMMITPATH_SLURM=no")
    if missing := one_slurm.missing():
        names = " ".join(missing)
        pytest.fail(f"not installed: {names}; `make host` installs it; COMMITPATH_SLURM=no leaves this out")
    with one_slurm.running(tmp_path / "slurm") as config:
        environment = {**os.environ, "SLURM_CONF": str(config)}
        monkeypatch.setenv("SLURM_CONF", str(config))

        def jobs() -> dict[str, str]:
            listed = one_slurm.said(
                environment, "squeue", "-h", "--states=all", "--format=%k|%T|%i", "--sort=i"
            )
            return {line.split("|")[0]: line.split("|")[1] for line in listed.splitlines()}

        yield jobs


def test_slurm_runs_a_sweep(
    machine: Callable[[], dict[str, str]], labs: Callable[[str], Lab], tmp_path: Path
) -> None:
    """Interrupted, gone on with, one run failing; the others have the numbers of a sweep without Slurm."""
    grid = tmp_path / "slurm.yml"
    here, there = labs("here"), labs("there")
    grid.write_text(GRID)
    here.ok("sweep", GRID=str(grid))
    expected = kill.outcome(here.results)
    assert len(expected) == 2
    assert machine() == {}

    grid.write_text(GRID.partition("axes:")[0] + VARIANTS)
    cells = {mode: make_cell({**CELLS, "MODE": mode}) for mode in ("delete", "wal")}
    unfit = make_cell({**CELLS, "MODE": "truncate", "MKFS_OPTIONS": "-s 100000"})
    interrupted(there, grid, machine)

    done = there.make("sweep", GRID=str(grid), EXECUTOR="slurm", RETRIES="0", JOBS="3")
    assert done.returncode != 0
    assert "3 runs: 2 ok (0 of them from before), 1 failed; 0 cells excluded" in done.stdout, done.stderr
    assert "failed    slurm: " in done.stdout and f" ({cell_id(unfit)}-1): prepare.yml: " in done.stdout
    jobs = machine()
    assert {jobs[f"rule_run_wildcards_{cell_id(cell)}-1"] for cell in cells.values()} == {"COMPLETED"}
    assert f"rule_run_wildcards_{cell_id(unfit)}-1" not in jobs
    assert list(jobs.values()).count("FAILED") == 1, jobs
    assert kill.outcome(there.results) == expected


def interrupted(lab: Lab, grid: Path, machine: Callable[[], dict[str, str]]) -> None:
    """Start a sweep, and press Ctrl-C when Slurm runs a job of it: it is cancelled, nothing is left."""
    process = kill.start(grid, lab.results, executor="slurm")
    deadline = time.monotonic() + 30
    while "RUNNING" not in machine().values():
        assert process.poll() is None, (lab.results / ".sweep/log/snakemake.log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(30) != 0
    deadline = time.monotonic() + kill.GONE_SECONDS
    while left := kill.alive(lab.results):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    assert set(machine().values()) == {"CANCELLED"}
