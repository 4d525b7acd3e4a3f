"""Start Snakemake for a sweep, here or on Slurm; show progress; stop it and its jobs on a signal."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from base import scratch
from base.errors import LabError
from base.paths import ROOT
from base.progress import say
from commitpath.database.sweep_state import STATE
from commitpath.host import ansible
from commitpath.sweep import sweep_plan
from commitpath.sweep.progress import SECONDS, Progress
from commitpath.sweep.sweep_plan import Planned
from images.qemu import die_with_parent

# The plugin checks all jobs first after this time, then 10 s later each time that nothing ended, up to 180 s.
# Its default of 40 s is longer than most runs.
FIRST_LOOK_SECONDS = 5
# An NFS client may report a new file as missing for 60 s (acregmax, acdirmax of nfs(5)).
SHARED_FILE_SECONDS = 60
# Slurm's default, and more than the 180 s between two checks.
LEAST_JOB_AGE_SECONDS = 300


def slurm_arguments() -> list[str]:
    """Return Snakemake's arguments for this machine's Slurm. Raises LabError if it cannot be used."""
    return [
        *("--executor", "slurm"),
        *("--slurm-status-command", status_command()),
        *("--slurm-init-seconds-before-status-checks", str(FIRST_LOOK_SECONDS)),
        *("--latency-wait", str(SHARED_FILE_SECONDS)),
    ]


def slurm_path(state: Path) -> str:
    """Return PATH for the jobs, with an srun that sets SLURM_CONF.

    The plugin's jobs lose that variable (tested with snakemake-executor-plugin-slurm-jobstep 0.6.1).
    """
    before = os.environ["PATH"]
    config, srun = os.environ.get("SLURM_CONF"), shutil.which("srun")
    if not config or not srun:
        return before
    script = state / "bin/srun"
    scratch.write(script, f'#!/bin/sh\nSLURM_CONF={shlex.quote(config)} exec {shlex.quote(srun)} "$@"\n')
    script.chmod(0o755)
    return f"{script.parent}:{before}"


def status_command() -> str:
    """Return `sacct` if Slurm keeps accounts, else `squeue`, if it remembers ended jobs for long enough."""
    if shutil.which("sbatch") is None:
        raise LabError(
            "EXECUTOR=slurm: no sbatch on this machine; install Slurm's client here (Debian: slurm-client), "
            "or use EXECUTOR=local"
        )
    if answer(["sacct", "--noheader", "--allocations"]).returncode == 0:
        return "sacct"
    config = answer(["scontrol", "show", "config"])
    age = re.search(r"^MinJobAge\s*=\s*([0-9]+)", config.stdout, re.MULTILINE)
    if config.returncode or not age:
        lines = (config.stderr or config.stdout).strip().splitlines() or ["nothing"]
        raise LabError(f"EXECUTOR=slurm: Slurm does not answer; scontrol: {lines[-1]}")
    if int(age[1]) < LEAST_JOB_AGE_SECONDS:
        raise LabError(
            f"EXECUTOR=slurm: this Slurm keeps no accounts and forgets a job {age[1]} s after its end; "
            f"it needs accounting, or MinJobAge of {LEAST_JOB_AGE_SECONDS} or more in slurm.conf"
        )
    return "squeue"


def answer(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's commands and return its output. Raises LabError if it cannot run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"EXECUTOR=slurm: {command[0]}: {error}") from error


def command(runs: Mapping[str, Planned], jobs: int, retries: int, on_slurm: Sequence[str]) -> list[str]:
    """Return Snakemake's command line. After a kill done/ is valid, and its own marks are not.

    on_slurm: slurm_arguments(); empty if the jobs run here.
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
    scratch.write(STATE / "todo.json", json.dumps(todo))
    (STATE / "log").mkdir(exist_ok=True)
    with (STATE / "log/snakemake.log").open("wb") as log:
        process = subprocess.Popen(
            command(runs, jobs, retries, on_slurm),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env={
                # as PYTHON does; its jobs need this PYTHONPATH
                **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
                "PYTHONPATH": str(ROOT),
                # not in the user's home
                "XDG_CACHE_HOME": str(STATE / "cache"),
                "PATH": slurm_path(STATE) if on_slurm else os.environ["PATH"],
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
