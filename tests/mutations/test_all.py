"""Of all kinds of forgery, a try on each sample, none is missed: the table of docs/ledger.md."""

import os
import subprocess
import sys
from pathlib import Path


def test_none_is_missed() -> None:
    command = [sys.executable, Path(__file__).with_name("mutations.py")]
    environment = {**os.environ, "MAKEFLAGS": " -- N=1 SEED=1", "N": "1", "SEED": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("SEED=1: ") and "missed: " not in done.stdout
