"""A cell's plan: all that a run needs, and the same from the same cell."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from some_cell import some_cell

from analysis.schemas import documents
from base import identity
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_id
from commitpath.commands import board_commands
from commitpath.host import ansible
from commitpath.run import plan
from images import artifacts
from model.requested import expected

VARIABLES = (
    {},
    {"FS": "f2fs", "MODE": "wal", "DEVICE": "emmc-5.0"},
    {"FS": "xfs", "ENGINE": "leveldb", "WORKLOAD": "kv", "PROBES": "none"},
    {"CLOCK": "real"},
)


@pytest.mark.parametrize("variables", VARIABLES)
def test_a_plan_is_whole(variables: dict[str, str]) -> None:
    cell, entry = make_cell(variables), ansible.board("virtual")
    made = plan.make(cell, entry)
    document = made.document
    documents.check("plan", json.loads(json.dumps(document)))
    assert document == plan.make(make_cell(variables), entry).document
    assert document["cell_id"] == cell_id(cell)
    twin = bool(cell.probes) and cell.clock == "virtual"
    assert list(document["runs"]) == (["run", "twin"] if twin else ["run"])
    for one, run in zip(made.runs, document["runs"].values(), strict=True):
        assert run["files"] == {name: hashlib.sha256(text).hexdigest() for name, text in one.files.items()}
        (steps,) = [line for line in one.files["cell.env"].decode().splitlines() if line.startswith("STEPS=")]
        planned = " ".join(f"{step['name']}:{step['ends']}" for step in run["steps"])
        assert steps == f"STEPS='{planned}'"
    if twin:
        assert document["runs"]["twin"]["observers"] == []
        assert made.runs[1].cell == replace(cell, probes="")


def test_every_step_is_one_that_the_board_knows() -> None:
    script = (ansible.PLAYBOOKS / "board/run-cell.sh").read_text()
    ways = [line.split(")")[0] for line in script.splitlines() if line.endswith(";;")]
    labels = {word for way in ways for word in way.split()}
    for load in (identity.DRIVER, identity.COMMAND):
        assert expected.steps(some_cell(load=load)).keys() <= labels
        assert (ansible.PLAYBOOKS / f"loads/{load}.sh").is_file()


def test_the_plan_expects_what_the_cell_requests() -> None:
    cell = make_cell({"FS": "f2fs", "MODE": "wal", "SYNC": "normal", "MOUNT_OPTIONS": "noatime", "N": "7"})
    said = plan.make(cell, ansible.board("virtual")).document["expected"]
    found = {(one["group"], one["name"]): one["requested"] for one in said}
    assert len(found) == len(said)
    for name, value in {
        ("SQLite", "journal_mode"): "wal",
        ("SQLite", "synchronous"): "normal",
        ("SQLite", "version"): cell.sqlite,
        ("engine", "name"): "sqlite",
        ("workload", "n"): "7",
        ("filesystem", "type"): "f2fs",
        ("filesystem", "option noatime"): "noatime",
        ("device", "completion_nsec"): "2000000",
        ("board", "clock"): "virtual",
    }.items():
        assert found[name] == value


def test_make_plan_builds_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(*_: object) -> None:
        raise AssertionError("something is built")

    for name in ("ensure", "locked", "whole"):
        monkeypatch.setattr(artifacts, name, build)
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    board_commands.plan({"FS": "f2fs", "MODE": "wal"})
    document = json.loads(capsys.readouterr().out)
    assert document["cell"]["journal_mode"] == "wal"
    assert list(tmp_path.iterdir()) == []
