"""`make crash-replay`: what it refuses, and what it says of a trial that came out another way."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import pytest

from analysis.run import Run
from base.errors import LabError
from commitpath.commands import replay_trial


def says(**variables: str) -> str:
    """The one line of a refused call."""
    done = commands.call("crash-replay", *(f"{name}={value}" for name, value in variables.items()))
    assert done.returncode != 0 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    return str(line)


@pytest.mark.parametrize("trial", ["40", "²"])
def test_a_trial_that_is_not_there(stored_run: Callable[[str], Path], trial: str) -> None:
    said = says(RUN=str(stored_run("sample-crash")), TRIAL=trial)
    assert f"TRIAL={trial}: a trial of that run is a number from 0 to 39" in said


def test_a_trial_is_told_in_a_line_or_what_differs(built_run: Callable[[str], Run]) -> None:
    run = built_run("sample-crash")
    assert run.judged is not None
    (trial, *_) = (one for one in replay_trial.stored_trials(run, run.folder) if one.losable)
    stored: dict[str, Any] = run.judged.filter(run.judged["trial"] == trial.number).row(0, named=True)
    # another clock, and what of the filesystem the kernel had in memory
    told = replay_trial.compared(run, stored | {"cut_ns": 1, "opened_ns": 2, "fsck": -1, "reads": 0})
    what = f"the power was cut {trial.where} command {trial.command} ({stored['operation']}, "
    assert told.startswith(f"trial {trial.number}: {what}")
    assert told.endswith("are there; as stored")
    # boards of this version may not record what SQLite wrote
    assert replay_trial.compared(run, stored | {"zero": None, "stale": None}).endswith("; as stored")
    with pytest.raises(LabError, match="came out another way: hash is 'ffff', stored '"):
        replay_trial.compared(run, stored | {"hash": "ffff"})
