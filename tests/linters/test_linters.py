"""Every linter of tests/lint, a test each."""

import os
import subprocess
from pathlib import Path

import pytest

from images.artifacts import CACHE

LINT = Path(__file__).resolve().parents[1] / "lint"
NAMES = subprocess.run([LINT, "--list"], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("name", NAMES)
def test_lint(name: str) -> None:
    # mypy compares hashes, so that a new clone with an old cache checks only what has changed
    environment = {**os.environ, "MYPY_CACHE_DIR": str(CACHE / "mypy")}
    done = subprocess.run([LINT, name], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_linter_that_is_not_there_is_told() -> None:
    done = subprocess.run([LINT, "spelling"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("lint: no linter spelling; there are ")
