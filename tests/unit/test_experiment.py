"""make experiment: unreadable repeats, the order of samples, run ids, stored SQL, failures of a lab board."""

import gzip
import json
import os
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from some_cell import some_cell

from analysis.run_files import derived
from base import identity
from base.errors import LabError
from commitpath.cells import samples
from commitpath.cells.from_variables import make_cell
from commitpath.command_line import stored_run
from commitpath.commands import analysed_runs
from commitpath.host import ansible
from commitpath.run import compressed_files, crash_trials, experiment, plan
from model.cell import Cell

SUMMARY = {
    "cell_id": "c",
    "cell_name": "cell",
    "run_id": "good",
    "clock": "virtual",
    "status": "ok",
    "reasons": [],
    "tps": {"insert": 1.0},
    "block_sequence_sha256": None,
}


def test_a_repeat_that_cannot_be_read_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = {"engine": "sqlite", "profiles": {}, "at_default": []}
    place = tmp_path / identity.cell_name(stored)
    for name in ("unreadable", "good"):
        (place / name).mkdir(parents=True)
    for name, content in (("summary", SUMMARY), ("cell", stored), ("host", {"run_id": "good"})):
        (place / f"good/{name}.json").write_text(json.dumps(content))
    derived.write(place / "good")
    runs = iter(("unreadable", "good"))
    monkeypatch.setattr(experiment, "run_once", lambda *_, **__: place / next(runs))
    monkeypatch.setattr("analysis.__main__.main", lambda named: 3 * named[0].endswith("unreadable"))
    codes = analysed_runs.run_samples([some_cell()], 2, 1.0)
    assert codes == {place / "unreadable": 3, place / "good": 0}
    said = capsys.readouterr()
    assert f"not compared, as it could not be analysed: {place}/unreadable\n" in said.err
    assert "1 runs, 0 rejected" in said.out


def test_every_sample_runs_before_one_is_repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = []

    def run_once(cell: Cell, _: float, turn: int, meanwhile: object) -> Path:
        assert meanwhile is analysed_runs.load_analysis
        ran.append((cell.seed, cell.board_number, turn))
        return tmp_path / f"r{len(ran)}"

    monkeypatch.setattr(experiment, "run_once", run_once)
    monkeypatch.setattr(analysed_runs, "analyse", lambda _: 3)
    cells = samples.cells({"SEED": "7", "BOARD_NUMBER": "2"}, range(7, 9), 2)
    assert [*analysed_runs.run_samples(cells, 2, 1.0).values()] == [3] * 8
    each = [(7, 2), (8, 2), (7, 3), (8, 3)]
    assert ran == [(*sample, turn) for turn in (1, 2) for sample in each]


def test_two_runs_of_one_second_have_two_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in two containers, where both processes have the number 1."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    now = time.gmtime()
    monkeypatch.setattr(time, "gmtime", lambda: now)
    ids = {experiment.new_id() for _ in range(20)}
    assert len(ids) == 20 and all(stored_run.RUN_ID.fullmatch(one) for one in ids)


def test_what_was_rendered_is_kept_compressed(tmp_path: Path) -> None:
    for name in ("run", "twin"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rendered").write_bytes(b"INSERT\n" * 1000)
        compressed_files.compress_rendered(tmp_path / name)
        assert [path.name for path in (tmp_path / name).iterdir()] == ["rendered.gz"]
    gz = [(tmp_path / name / "rendered.gz").read_bytes() for name in ("run", "twin")]
    assert gzip.decompress(gz[0]) == b"INSERT\n" * 1000
    assert gz[0] == gz[1]
    compressed_files.compress_rendered(tmp_path)  # a run that failed has none


def test_a_virtual_run_runs_what_the_plan_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each of its cells on the snapshot that is watched as that one is, with its own files."""
    cell = make_cell({})
    planned = plan.make(cell, ansible.board("virtual"))
    watched: list[object] = []

    def ensure_watched(one: object, _: Path, files: object, board: object) -> Path:
        watched.append((one, files))
        return tmp_path / str(len(watched))

    monkeypatch.setattr(experiment, "virtual_board", lambda _: None)
    monkeypatch.setattr(experiment, "ensure_snapshot", lambda *_: tmp_path)
    monkeypatch.setattr(experiment, "ensure_watched", ensure_watched)
    monkeypatch.setattr(experiment, "run_together", lambda _, folders, files, *__: (folders, files))
    ran, trials = experiment.run_virtual(cell, tmp_path, {}, planned, 1)
    assert trials == crash_trials.Trials()
    assert ran == ([tmp_path / "1", tmp_path / "2"], [one.files for one in planned.runs])
    assert watched == [(one.cell, one.files) for one in planned.runs]


@pytest.mark.parametrize(
    ("failed", "told"),
    [
        ((), None),
        (("run", "known"), "the run failed: run: full"),
        (("known",), "the known sequence failed: known: full"),
        (("twin", "known"), "the baseline run failed: twin: full"),
    ],
)
def test_what_failed_on_a_lab_board_is_told_and_kept(
    failed: tuple[str, ...], told: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sent(name: str, known: Any = None) -> Any:
        return SimpleNamespace(failed=name in failed, known=known, tail=lambda _: f"{name}: full")

    outputs = [sent("run", sent("known")), sent("twin")]
    cell = make_cell({"BOARD": "virtual", "CLOCK": "real"})
    monkeypatch.setattr(ansible, "board", lambda _: {"board_kind": "lab"})
    monkeypatch.setattr(experiment.programs, "driver", lambda _: tmp_path)
    monkeypatch.setattr(experiment, "make", lambda *_: SimpleNamespace(runs=outputs))
    monkeypatch.setattr(experiment.lab_board, "held", lambda *_: nullcontext())
    monkeypatch.setattr(experiment, "run_over_ssh", lambda *_: outputs)
    monkeypatch.setattr(experiment, "store", lambda *_: tmp_path)
    if told is None:
        assert experiment.run_once(cell) == tmp_path
    else:
        with pytest.raises(LabError, match=told):
            experiment.run_once(cell)
