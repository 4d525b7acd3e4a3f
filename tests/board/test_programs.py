"""Programs of others under our observers: their syncs are strace's, sectors and flushes the kernel's."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))

import programs  # noqa: E402


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the programs are given, as FILES."""
    yield programs.files(tmp_path_factory.mktemp("tools"))


@pytest.mark.parametrize("name", [name for name in programs.COMMANDS if name != "mobibench"])
def test_counts_are_those_of_strace_and_of_the_kernel(name: str, files: str) -> None:
    row = programs.row(name, files)
    assert row.agrees, row
    assert row.syncs > 0
