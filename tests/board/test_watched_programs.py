"""Programs of others under our observers: their syncs are strace's, sectors and flushes the kernel's."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from base.errors import LabError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))

import programs  # noqa: E402

DROPS = "mobibench"  # the page cache, so the board reads its root disk
# Of those that use a shared SQLite: of insert.py 20 inserts and a CREATE in each of two databases and the
# switch to WAL; of shell.sql its CREATE and three inserts.
KNOWN = {"python3": 43, "sqlite3": 4}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the programs are given, as FILES."""
    try:
        yield programs.files(tmp_path_factory.mktemp("tools"))
    except LabError as error:
        if not str(error).startswith("Mobibench: "):
            raise
        pytest.skip(f"{error}; COMMITPATH_MOBIBENCH names a clone of it")


@pytest.mark.parametrize("name", programs.CONCURRENT)
def test_counts_of_threads_and_processes_at_once(name: str) -> None:
    row = programs.row(name, programs.scripts())
    assert (row.equal, row.reasons) == (True, []), row
    assert row.syncs > 0


@pytest.mark.parametrize("name", programs.COMMANDS)
def test_counts_are_those_of_strace_and_of_the_kernel(name: str, files: str) -> None:
    row = programs.row(name, files)
    assert row.equal, row
    assert row.syncs > 0
    assert row.transactions == KNOWN.get(name)
    if name == DROPS:
        assert row.reasons
        assert all(reason.startswith("the board read its root disk ") for reason in row.reasons)
    else:
        assert not row.reasons
