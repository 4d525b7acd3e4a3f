"""`make crash-replay`: what it refuses, and what it says of a trial that came out another way."""

import io
import json
import shutil
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import commands
import numpy as np
import pytest

from analysis import stages
from analysis.adapters.devicelog import ENTRY
from analysis.device_logs.flashsim import HEADER
from base.errors import LabError
from commitpath import replay
from commitpath.cell import make_cell
from images.ssh import Login

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


def test_no_trial_and_no_run(recorded: Path, tmp_path: Path) -> None:
    assert "TRIAL=: a trial of that run is a number" in says(RUN=str(recorded))
    assert "make crash-replay takes RUN=" in says(TRIAL="1")
    assert "no such folder" in says(RUN=str(tmp_path / "none"), TRIAL="1")


def test_a_run_without_trials(recorded: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(recorded, tmp_path / "run"))
    shutil.rmtree(run / "crash")
    host = json.loads((run / "host.json").read_text())
    host.pop("raw_sha256", None)
    (run / "host.json").write_text(json.dumps(host))
    assert f"RUN={run}: a run without trials; one of CRASH=power has some" in says(RUN=str(run), TRIAL="1")


def test_a_trial_is_told_in_a_line_or_what_differs(recorded: Path) -> None:
    run = stages.build(recorded)
    assert run.judged is not None
    (trial, *_) = (one for one in replay.stored_trials(run, recorded) if one.losable)
    stored: dict[str, Any] = run.judged.filter(run.judged["trial"] == trial.number).row(0, named=True)
    # another clock, and what of the filesystem the kernel had in memory
    told = replay.compared(run, stored | {"cut_ns": 1, "opened_ns": 2, "fsck": -1, "reads": 0})
    what = f"the power was cut {trial.where} command {trial.command} ({stored['operation']}, "
    assert told.startswith(f"trial {trial.number}: {what}")
    assert told.endswith("are there; as stored")
    with pytest.raises(LabError, match="came out another way: hash is 'ffff', stored '"):
        replay.compared(run, stored | {"hash": "ffff"})


def sent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a board send raw/ of a folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(folder / "raw", "raw")
    done = SimpleNamespace(stdout=buffer.getvalue())
    monkeypatch.setattr(replay.subprocess, "run", lambda *_, **__: done)


def test_a_board_that_did_another_run_is_told(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stages.build(recorded)
    login = Login(22, tmp_path)
    again = Path(shutil.copytree(recorded / "crash/1", tmp_path / "again"))
    sent(again, monkeypatch)
    assert replay.outcome(run, replay.tried(run.cell, login), 0)["trial"] == 0
    log = again / "raw/device.bin"
    content = log.read_bytes()
    entries = np.frombuffer(content[HEADER.itemsize :], ENTRY).copy()
    entries["sector"][entries.size // 2 :] += 8
    log.write_bytes(content[: HEADER.itemsize] + entries.tobytes())
    sent(again, monkeypatch)
    with pytest.raises(LabError, match="the board of here is another: doing that run again its device got"):
        replay.outcome(run, replay.tried(run.cell, login), 0)


def test_a_profile_as_the_file_has_it() -> None:
    """A stored cell has its keys in another order, and a board would be prepared a second time."""
    cell = make_cell({"DEVICE": "emmc-5.0", "CRASH": "power"})
    stored = json.loads(json.dumps(cell, sort_keys=True))
    assert list(stored["profiles"]["device"]["geometry"]) != list(cell["profiles"]["device"]["geometry"])
    assert json.dumps(replay.as_here(stored)["profiles"]["device"]) == json.dumps(cell["profiles"]["device"])
    # another content is the run's own
    stored["profiles"]["device"]["geometry"]["cache_kib"] = 7
    assert replay.as_here(stored)["profiles"]["device"]["geometry"]["cache_kib"] == 7
