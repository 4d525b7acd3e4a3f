"""An empty results database for the tests of papers, which fill it by fixture.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from commitpath.database import store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """An empty results database."""
    store.create(tmp_path / "made-up.sqlite")
    return tmp_path / "made-up.sqlite"
