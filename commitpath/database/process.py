"""Run a module that reads what came from another lab, in a process that may not use much."""

import signal
import subprocess
import sys

from base.paths import ROOT
from commitpath.database import limits
from commitpath.database.store import DatabaseError


def run(what: str, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run commitpath.database.MODULE, which limits itself (checked.limited), to its end.

    what: what it reads, for errors. Raises DatabaseError: the one line that it says, or why it
    said none.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", f"commitpath.database.{module}", *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limits.SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DatabaseError(f"{what}: not read within {limits.SECONDS} s; nothing was imported") from None
    said = done.stderr.splitlines()
    if done.returncode == -signal.SIGXCPU:
        raise DatabaseError(f"{what}: not read within {limits.CPU_SECONDS} s of a CPU; nothing was imported")
    if done.returncode == 1 and len(said) == 1:
        raise DatabaseError(said[0])
    if done.returncode:
        why = said[-1] if said else f"status {done.returncode}"
        raise DatabaseError(f"{what}: it could not be checked ({why}); nothing was imported")
    return done
