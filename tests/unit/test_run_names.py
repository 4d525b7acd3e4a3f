"""A run is named by its folder, its id, its cell, `latest` or `demo`."""

from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath.command_line import stored_run

FIRST, SECOND = "20261126T191014Z-9747", "20261126T191015Z-3"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of a cell, one of them in another cell, too; `latest` is the second."""
    for name in (f"wal-1/{FIRST}", f"wal-1/{SECOND}", f"imported/lab/wal-2/{SECOND}"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "cell.json").touch()
    (tmp_path / "wal-1/samples").mkdir()
    (tmp_path / "latest").symlink_to(f"wal-1/{SECOND}")
    monkeypatch.setattr(stored_run, "RESULTS", tmp_path)
    monkeypatch.chdir("/")
    return tmp_path


@pytest.mark.parametrize("name", ["{results}/wal-1/" + FIRST, FIRST])
def test_a_folder_and_an_id(results: Path, name: str) -> None:
    assert stored_run.find("RUN", name.format(results=results)) == results / "wal-1" / FIRST


@pytest.mark.parametrize(
    "name",
    ["wal-1", "results/wal-1", "{results}/wal-1", "latest", "{results}/latest", "results/latest"],
)
def test_the_newest_of_a_cell_and_latest(results: Path, name: str) -> None:
    found = stored_run.find("RUN", name.format(results=results))
    assert found is not None and found.resolve() == results / "wal-1" / SECOND


def test_the_id_of_a_cell(results: Path) -> None:
    cell = results / f"f2fs-v2{'0' * 16}" / FIRST
    cell.mkdir(parents=True)
    (cell / "cell.json").touch()
    assert stored_run.find("RUN", f"v2{'0' * 16}") == cell


@pytest.mark.parametrize("name", ["wal-2", "../wal", "20261126T191014Z-9", "*", "imported"])
def test_no_such_run(results: Path, name: str) -> None:
    with pytest.raises(BadInputError, match=r"^RUN=.*: no such run; a run is named by its folder, its id, "):
        stored_run.folder("tree", {"RUN": name})


def test_an_id_of_several(results: Path) -> None:
    with pytest.raises(BadInputError, match=r"^RUN_A=.*: several runs have this id: .*.*wal-2/.*, .*wal-1/"):
        stored_run.find("RUN_A", SECOND)
