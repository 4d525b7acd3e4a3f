"""Sensitivity: a replay with the recorded profile gives the recorded times."""

import shutil
from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath.cells.profiles import load_profile
from commitpath.commands import sensitivity

SAMPLE = Path(__file__).resolve().parents[1] / "analysis/sample-flash-wal.tar.xz"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run of SQLite in WAL mode on emmc-5.0."""
    to = tmp_path_factory.mktemp("sample")
    shutil.unpack_archive(SAMPLE, to)
    return to / "run"


def test_replay_gives_the_recorded_times(run: Path) -> None:
    entries = sensitivity.commands_of(run)
    profile = load_profile("device", "emmc-5.0")
    begins, ends = sensitivity.replay(profile, entries)
    assert (begins == entries["begin_ns"]).all() and (ends == entries["end_ns"]).all()
    slower = {**profile, "timing": {**profile["timing"], "program_ns": 800000}}
    assert sensitivity.device_ns(slower, entries) > (ends - begins).sum()


def test_effects_are_of_the_parameters_in_use(run: Path) -> None:
    profile = load_profile("device", "emmc-5.0")
    found = dict(sensitivity.effects(profile, sensitivity.commands_of(run)))
    assert {"seed", "merge_ns"}.isdisjoint(found)
    assert found["program_ns"][0] < 0 < found["program_ns"][1]
    assert found["erase_ns"] == [0, 0]


def test_a_folder_without_a_log(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"there is no raw/device\.bin"):
        sensitivity.commands_of(tmp_path)
