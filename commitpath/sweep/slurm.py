"""Snakemake's arguments and PATH for a sweep on Slurm (docs/how-to/sweeps.md)."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from base.errors import LabError
from commitpath.database.sweep_state import write_whole

# The plugin checks all jobs first after this time, then 10 s later each time that nothing ended, up to 180 s.
# Its default of 40 s is longer than most runs.
FIRST_LOOK_SECONDS = 5
# An NFS client may report a new file as missing for 60 s (acregmax, acdirmax of nfs(5)).
SHARED_FILE_SECONDS = 60
# Slurm's default, and more than the 180 s between two checks.
LEAST_JOB_AGE_SECONDS = 300


def arguments() -> list[str]:
    """Return Snakemake's arguments for this machine's Slurm. Raises LabError if it cannot be used."""
    return [
        *("--executor", "slurm"),
        *("--slurm-status-command", status_command()),
        *("--slurm-init-seconds-before-status-checks", str(FIRST_LOOK_SECONDS)),
        *("--latency-wait", str(SHARED_FILE_SECONDS)),
    ]


def path(state: Path) -> str:
    """Return PATH for the jobs, with an srun that sets SLURM_CONF.

    The plugin's jobs lose that variable (tested with snakemake-executor-plugin-slurm-jobstep 0.6.1).
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
    """Run one of Slurm's commands."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"EXECUTOR=slurm: {command[0]}: {error}") from error
