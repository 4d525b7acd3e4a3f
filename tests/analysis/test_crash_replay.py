"""`make crash-replay`: what it refuses, and what it says of a trial that came out another way."""

import shutil
from pathlib import Path
from typing import Any

import commands
import pytest

from analysis import stages
from base.errors import LabError
from commitpath.run import replay_trial

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DELETE with FULL, 40 cuts."""
    folder = tmp_path_factory.mktemp("replay") / "cell"
    shutil.unpack_archive(HERE / "sample-crash.tar.xz", folder)
    return folder / "run"


def says(**variables: str) -> str:
    """The one line of a refused call."""
    done = commands.call("crash-replay", *(f"{name}={value}" for name, value in variables.items()))
    assert done.returncode != 0 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    return str(line)


@pytest.mark.parametrize("trial", ["40", "-1", "1e1", "all", "²"])
def test_a_trial_that_is_not_there(recorded: Path, trial: str) -> None:
    assert f"TRIAL={trial}: a trial of that run is a number from 0 to 39" in says(
        RUN=str(recorded), TRIAL=trial
    )


def test_a_trial_is_told_in_a_line_or_what_differs(recorded: Path) -> None:
    run = stages.build(recorded)
    assert run.judged is not None
    (trial, *_) = (one for one in replay_trial.stored_trials(run, recorded) if one.losable)
    stored: dict[str, Any] = run.judged.filter(run.judged["trial"] == trial.number).row(0, named=True)
    # another clock, and what of the filesystem the kernel had in memory
    told = replay_trial.compared(run, stored | {"cut_ns": 1, "opened_ns": 2, "fsck": -1, "reads": 0})
    what = f"the power was cut {trial.where} command {trial.command} ({stored['operation']}, "
    assert told.startswith(f"trial {trial.number}: {what}")
    assert told.endswith("are there; as stored")
    with pytest.raises(LabError, match="came out another way: hash is 'ffff', stored '"):
        replay_trial.compared(run, stored | {"hash": "ffff"})
