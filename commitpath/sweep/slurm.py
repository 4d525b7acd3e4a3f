"""What Snakemake must be told where Slurm runs the jobs (docs/how-to/sweeps.md)."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from base.errors import LabError
from commitpath.database.sweep_state import write_whole

# The plugin looks first after this long, then 10 s less often each time that nothing ended, at
# most every 180 s; one command for all jobs. Its own 40 s are longer than most runs.
FIRST_LOOK_SECONDS = 5
# An NFS client may go on saying for 60 s that a file is not there (acregmax, acdirmax of nfs(5)).
SHARED_FILE_SECONDS = 60
# Slurm's default, and more than the 180 s between two looks.
LEAST_JOB_AGE_SECONDS = 300


def arguments() -> list[str]:
    """Snakemake's arguments for this machine's Slurm; LabError where it cannot be used."""
    return [
        *("--executor", "slurm"),
        *("--slurm-status-command", status_command()),
        *("--slurm-init-seconds-before-status-checks", str(FIRST_LOOK_SECONDS)),
        *("--latency-wait", str(SHARED_FILE_SECONDS)),
    ]


def path(state: Path) -> str:
    """PATH for the jobs, with an srun that knows SLURM_CONF: the plugin's jobs lose that variable.

    (Tried with snakemake-executor-plugin-slurm-jobstep 0.6.1.)
    """
    before = os.environ["PATH"]
    config, srun = os.environ.get("SLURM_CONF"), shutil.which("srun")
    if not config or not srun:
        return before
    script = state / "bin/srun"
    write_whole(script, f'#!/bin/sh\nSLURM_CONF={shlex.quote(config)} exec {shlex.quote(srun)} "$@"\n')
    script.chmod(0o755)
    return f"{script.parent}:{before}"


def status_command() -> str:
    """`sacct` where Slurm keeps accounts; else `squeue`, if that remembers an ended job for long enough."""
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
        said = (config.stderr or config.stdout).strip().splitlines() or ["nothing"]
        raise LabError(f"EXECUTOR=slurm: Slurm does not answer; scontrol says: {said[-1]}")
    if int(age[1]) < LEAST_JOB_AGE_SECONDS:
        raise LabError(
            f"EXECUTOR=slurm: this Slurm keeps no accounts and forgets a job {age[1]} s after its end; "
            f"it needs accounting, or MinJobAge of {LEAST_JOB_AGE_SECONDS} or more in slurm.conf"
        )
    return "squeue"


def answer(command: list[str]) -> subprocess.CompletedProcess[str]:
    """What one of Slurm's commands says."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"EXECUTOR=slurm: {command[0]}: {error}") from error
