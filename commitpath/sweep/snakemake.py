"""Run Snakemake with a progress line, and stop it and its jobs on a signal."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from base.paths import ROOT
from base.progress import say
from commitpath.database.sweep_state import STATE, write_whole
from commitpath.host import ansible
from commitpath.sweep import slurm, sweep_plan
from commitpath.sweep.progress import SECONDS, Progress
from commitpath.sweep.sweep_plan import Planned
from images.qemu import die_with_parent


def command(runs: Mapping[str, Planned], jobs: int, retries: int, on_slurm: Sequence[str]) -> list[str]:
    """Return Snakemake's command line. After a kill done/ is valid, and its own marks are not.

    on_slurm: slurm.arguments(); empty if the jobs run here.
    """
    boards = sorted({run.cell.board for run in runs.values()})
    labs = {name for name in boards if ansible.board(name)["board_kind"] == "lab"}
    # by number: a resource's name must be an identifier
    units = {f"board_{number}": 1 if name in labs else jobs for number, name in enumerate(boards)}
    # a lab board's job only waits, and needs no core
    number = jobs + len(labs)
    return [
        *(sys.executable, "-m", "snakemake"),
        *("--snakefile", str(Path(__file__).with_name("Snakefile"))),
        *("--directory", str(STATE)),
        *("--jobs" if on_slurm else "--cores", str(number)),
        *on_slurm,
        *("--resources", *(f"{name}={count}" for name, count in units.items())),
        *("--scheduler", "greedy", "--rerun-triggers", "mtime", "--rerun-incomplete", "--nolock"),
        *("--keep-going", "--retries", str(retries)),
    ]


def run(
    runs: Mapping[str, Planned], todo: Sequence[str], jobs: int, retries: int, on_slurm: Sequence[str]
) -> None:
    """Run Snakemake to its end, showing progress; stop it and its jobs on an exception."""
    for key in todo:
        (STATE / "failed" / key).unlink(missing_ok=True)
    # boards that did not answer are tried again
    shutil.rmtree(STATE / "away", ignore_errors=True)
    groups = sweep_plan.with_bases(runs[key].group for key in todo)
    for group in groups:
        for kind in ("failed", "prepared"):
            (STATE / kind / group).unlink(missing_ok=True)
    write_whole(STATE / "todo.json", json.dumps(todo))
    (STATE / "log").mkdir(exist_ok=True)
    with (STATE / "log/snakemake.log").open("wb") as log:
        process = subprocess.Popen(
            command(runs, jobs, retries, on_slurm),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                # not in the user's home
                "XDG_CACHE_HOME": str(STATE / "cache"),
                "PATH": slurm.path(STATE) if on_slurm else os.environ["PATH"],
            },
            preexec_fn=on_its_own if on_slurm else die_with_parent,  # noqa: PLW1509 - system calls, no locks
        )
        progress = Progress(todo, sorted(groups), jobs, len(runs) - len(todo))
        try:
            with progress.shown():
                while process.poll() is None:
                    progress.look()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(SECONDS)
        except BaseException:
            stop(process, bool(on_slurm))
            say(progress.stopped())
            raise


def on_its_own() -> None:
    """Prepare Snakemake's process on Slurm: SIGINT comes from stop() only; a second ends scancel."""
    die_with_parent()
    os.setpgrp()
    # the sweep may have been started where SIGINT is ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stop(process: subprocess.Popen[bytes], on_slurm: bool) -> None:
    """Stop Snakemake and its jobs, and wait for them: each job stops its board."""
    import psutil

    try:
        jobs = [] if on_slurm else psutil.Process(process.pid).children()
    except psutil.NoSuchProcess:
        jobs = []
    # first, so that it starts no further job; on SIGINT it cancels Slurm's jobs, on SIGTERM it would wait
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT if on_slurm else signal.SIGTERM)
    for job in jobs:
        with contextlib.suppress(psutil.NoSuchProcess):
            job.terminate()
    psutil.wait_procs(jobs, timeout=60)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
