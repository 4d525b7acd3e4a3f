"""Run make, without the variables of a make that may run the tests."""

import os
import subprocess
from pathlib import Path


def make(folder: Path, *words: str | Path) -> None:
    """Make targets in a folder; it must work."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-s", "-C", folder, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
    assert done.returncode == 0, done.stderr
