"""Negative controls of what cuts find: drivers that lie, each of which must be found out.

They are builds of these tests' own: a C file more in a copy of workloads/, and its --wrap for the linker.
No setting has them, and host.json names them by what they are made of.
"""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.__main__ import main as analyse
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment
from images import artifacts, programs

CONTROLS = Path(__file__).parent / "controls"
CELL = {"DEVICE": "emmc-5.0", "ROWS": "1000", "N": "10", "PROBES": "none", "MODE": "wal", "SYNC": "full"}


def lying(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    control: str,
    folder: str = "",
    wrapped: Sequence[str] = (),
    changed: tuple[str, str] = ("", ""),
) -> None:
    """Have what is built from now on with a control among the driver's files in that folder of workloads/;
    changed: a text of it, and what stands there instead."""
    copy, build = place / "workloads", shutil.ignore_patterns("build")
    shutil.copytree(artifacts.WORKLOADS, copy, ignore=build)
    text = (CONTROLS / control).read_text()
    assert changed[0] in text
    (copy / folder / control).write_text(text.replace(*changed) if changed[0] else text)
    words = [programs.LINKED, *(f"-Wl,--wrap={name}" for name in wrapped)]
    monkeypatch.setattr(artifacts, "WORKLOADS", copy)
    monkeypatch.setattr(programs, "LINKED", " ".join(words))
    monkeypatch.setattr(experiment, "RESULTS", place / "results")


def run(capsys: pytest.CaptureFixture[str], **variables: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Its summary, its host.json, and what a user is told."""
    folder = experiment.run_once(make_cell({**CELL, **variables}))
    analyse([str(folder)])
    documents = [json.loads((folder / name).read_text()) for name in ("summary.json", "host.json")]
    return documents[0], documents[1], capsys.readouterr().out


def test_a_vfs_whose_sync_does_nothing_loses_what_full_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On an honest device."""
    ordinary = programs.driver(make_cell(CELL)).name
    lying(tmp_path, monkeypatch, "sync_nothing.c", "engines/sqlite")
    summary, host, said = run(capsys, CRASH="power", CUTS="20")
    assert "PROMISE BROKEN" in said and summary["crash"]["broken"] > 0
    assert summary["crash"]["lost_acknowledged"]["max"] > 0
    assert host["program"] != ordinary


@pytest.mark.parametrize("fs", ["ext4", "f2fs"])
def test_a_vfs_that_skips_every_hundredth_sync_is_found_by_each_seed(
    fs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With few cuts, each of which has little chance to be where one transaction is at stake."""
    lying(tmp_path, monkeypatch, "sync_nothing.c", "engines/sqlite", changed=("EVERY 1\n", "EVERY 100\n"))
    for seed in ("1", "2", "3"):
        summary, _, said = run(capsys, FS=fs, N="100", CRASH="power", CUTS="8", CUT_SEED=seed)
        assert "PROMISE BROKEN" in said and summary["crash"]["lost_acknowledged"]["cuts"] > 0, seed


@pytest.mark.parametrize("variables", [{"CRASH": "power", "CUTS": "60"}, {"CRASH": "process", "CUTS": "40"}])
def test_a_driver_that_acknowledges_before_it_commits_is_found_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variables: dict[str, str],
) -> None:
    """By a cut between the two."""
    ordinary = programs.driver(make_cell(CELL)).name
    wrapped = ("engine_commit", "record_open", "record_write")
    lying(tmp_path, monkeypatch, "acknowledge_early.c", wrapped=wrapped)
    summary, host, said = run(capsys, **variables)
    assert "PROMISE BROKEN" in said and summary["crash"]["lost_acknowledged"]["max"] == 1
    assert host["program"] != ordinary


@pytest.mark.parametrize("engine", ["ssl", "ppl"])
def test_a_log_whose_lines_are_cleaned_too_late_loses_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    """On a device that keeps its word. That the calls come too late is told, too."""
    cell = {name: CELL[name] for name in CELL.keys() - {"MODE", "SYNC"}}
    monkeypatch.setattr(sys.modules[__name__], "CELL", cell | {"ENGINE": engine, "LOG_MEDIUM": "pcm"})
    lying(tmp_path, monkeypatch, "clean_late.c", f"engines/{engine}", wrapped=["medium_persist"])
    summary, _, said = run(capsys, CRASH="power", CUTS="40", DIRTY_PAGES="20")
    assert "PROMISE BROKEN" in said and summary["crash"]["broken"] > 0
    assert summary["crash"]["lost_acknowledged"]["max"] > 0 or summary["crash"]["opened"] < 40
    assert any("acknowledged before their lines were clean" in reason for reason in summary["reasons"])
