"""`make requirements`: pin the Python packages of requirements*.in, with hashes."""

import subprocess
import sys
from pathlib import Path

from base.paths import ROOT

OPTIONS = (
    *("--quiet", "--no-cache", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-annotate", "--custom-compile-command", "make requirements"),
)


def requirements(_: dict[str, str]) -> int:
    """Compile both files; the exit code is that of the first that fails."""
    for name in ("requirements-build", "requirements"):
        line = [str(Path(sys.executable).with_name("uv")), "pip", "compile", *OPTIONS]
        done = subprocess.run([*line, f"{name}.in", "-o", f"{name}.txt"], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0
