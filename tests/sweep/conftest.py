"""Results folders for the tests of sweeps, the database and reporting."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """An empty results folder."""
    return Lab(tmp_path / "results")


@pytest.fixture
def labs(tmp_path: Path) -> Callable[[str], Lab]:
    """labs(name): several results folders."""
    return lambda name: Lab(tmp_path / name)
