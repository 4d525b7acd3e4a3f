"""The flash model's tests notice each way in which mutants.py breaks it."""

import subprocess
import sys
from pathlib import Path


def test_every_broken_model_is_noticed() -> None:
    command = [sys.executable, Path(__file__).with_name("mutants.py"), "host"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("\n0 missed\n") and done.stdout.count("noticed  ") > 20
