"""What comes up after a cut: known answers, and devices and settings that must lose."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.__main__ import main as analyse
from commitpath.boards import payload
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment, plan

CELL = {"DEVICE": "emmc-5.0", "ROWS": "1000", "N": "30", "PROBES": "none", "CRASH": "power", "CUTS": "150"}
# test_flash.py has its run, too.
SHORT = CELL | {"N": "10", "CUTS": "20"}


def crash(folder: Path) -> dict[str, Any]:
    """What its summary says of its cuts."""
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "ok", summary["reasons"]
    found: dict[str, Any] = summary["crash"]
    return found


def test_a_short_cell(run_cell: Callable[..., Path]) -> None:
    """Every cut of a rollback journal comes up with all that was acknowledged, but for the last of DELETE."""
    found = crash(run_cell(**SHORT))
    assert (found["cuts"], found["mounted"], found["opened"]) == (20, 20, 20)
    assert found["corrupt"] == found["not_a_prefix"] == found["broken"] == 0
    assert found["lost_acknowledged"]["max"] == 1
    assert found["fsck"] == {"looked": 2, "complained": 0}
    assert 1 < found["recovery_ms"]["median"] < 1000


@pytest.mark.parametrize("fs", ["ext4-ordered", "f2fs"])
@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"MODE": "wal"}, 0),
        ({"MODE": "delete"}, 1),
        ({"MODE": "delete", "SYNC": "extra"}, 0),
        ({"MODE": "truncate"}, 0),
        ({"MODE": "persist"}, 0),
    ],
)
def test_full_keeps_what_it_promises(
    run_cell: Callable[..., Path], fs: str, settings: dict[str, str], most: int
) -> None:
    found = crash(run_cell(**CELL | settings | {"FS": fs}))
    assert found["opened"] == found["cuts"] and found["corrupt"] == found["not_a_prefix"] == 0
    assert found["lost_acknowledged"]["max"] <= most and found["broken"] == 0


@pytest.mark.parametrize("fs", ["ext4-ordered", "f2fs"])
def test_wal_normal_loses_commits_and_no_consistency(run_cell: Callable[..., Path], fs: str) -> None:
    found = crash(run_cell(**CELL | {"MODE": "wal", "SYNC": "normal", "FS": fs}))
    assert found["lost_acknowledged"]["max"] > 5
    assert found["opened"] == found["cuts"] and found["corrupt"] == found["not_a_prefix"] == 0
    assert found["broken"] == 0


@pytest.mark.parametrize("settings", [{"MODE": "memory"}, {"MODE": "off"}])
def test_without_a_journal_on_the_disk_a_database_is_broken(
    run_cell: Callable[..., Path], settings: dict[str, str]
) -> None:
    found = crash(run_cell(**CELL | settings))
    assert found["corrupt"] + found["not_a_prefix"] + found["cuts"] - found["opened"] > 0
    assert found["broken"] == 0, "nothing was promised"


def test_nobarrier_loses(run_cell: Callable[..., Path]) -> None:
    found = crash(run_cell(**CELL | {"MODE": "wal", "MOUNT_OPTIONS": "nobarrier"}))
    assert found["lost_acknowledged"]["max"] > 0


def test_a_device_that_ignores_a_flush_breaks_the_promise(run_cell: Callable[..., Path]) -> None:
    folder = run_cell(**CELL | {"MODE": "wal", "DEVICE": "emmc-5.0-ignores-flush"})
    found = crash(folder)
    assert found["broken"] > 0 and found["lost_acknowledged"]["max"] > 0
    assert "Promise broken" in (folder / "report.html").read_text()


def test_a_device_that_ignores_fua_may_break_it(run_cell: Callable[..., Path]) -> None:
    """A commit of ext4's journal that is not there: what it made durable is not, either."""
    found = crash(run_cell(**CELL | {"MODE": "wal", "DEVICE": "emmc-5.0-ignores-fua"}))
    assert found["lost_acknowledged"]["max"] > 0 or found["opened"] < found["cuts"]


def test_where_the_kernel_alone_is_gone_a_lying_device_loses_nothing(run_cell: Callable[..., Path]) -> None:
    found = crash(run_cell(**CELL | {"MODE": "wal", "DEVICE": "emmc-5.0-ignores-flush", "CRASH": "os"}))
    assert found["lost_acknowledged"]["max"] == found["broken"] == 0
    assert found["mounted"] == found["cuts"]


# As fsck, which looks at every tenth: the board dies in the trial behind the ninth.
DEADLY = b"""tail -n 1 /run/commitpath/raw/trials.csv | grep -q '^9,' && echo c > /proc/sysrq-trigger
exit 0
"""


def test_a_kernel_that_panics_in_a_trial_is_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, files = payload.trials_env, payload.payload
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    monkeypatch.setattr(payload, "trials_env", lambda cell: env(cell) | {"FSCK": "sh die.sh"})
    monkeypatch.setattr(plan, "payload", lambda *given, **named: files(*given, **named) | {"die.sh": DEADLY})
    folder = experiment.run_once(make_cell(SHORT))
    analyse([str(folder), "--quiet"])
    found = crash(folder)
    assert (found["cuts"], found["died"], found["mounted"], found["broken"]) == (20, 1, 19, 1)
    assert "board died" in found["first_broken"] and "panic" in found["first_broken"]


def test_the_same_cut_has_the_same_outcome(
    run_cell: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the byte, with what it took on the board's clock."""
    first = run_cell(**SHORT)
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    second = experiment.run_once(make_cell(SHORT))
    for board in first.glob("crash/*"):
        of_second = second / "crash" / board.name / "raw/trials.csv"
        assert of_second.read_bytes() == (board / "raw/trials.csv").read_bytes()
