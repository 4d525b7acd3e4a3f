"""Of all kinds of forgery, three tries on each sample, none is missed: a command of analysis/forged.yml."""

import subprocess
import sys
from pathlib import Path


def test_none_is_missed() -> None:
    command = [sys.executable, Path(__file__).with_name("mutations.py"), "N=3", "SEED=2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("SEED=2: ") and "missed: " not in done.stdout
