"""What a run's plan says is what its checks go by."""

import json
from pathlib import Path
from typing import Any

import pytest
import synthetic
from some_cell import some_cell

from analysis import checks, stages
from analysis import run as runs
from analysis.checks import loss, settings
from model.requested import expected


@pytest.fixture
def folder(run_dir: Path) -> Path:
    return run_dir


def planned(folder: Path, **changes: Any) -> runs.Run:
    """A made-up run with a plan, changed as told, read."""
    synthetic.plan(folder, **changes)
    return stages.build(folder)


def planned_run(folder: Path, part: str = ".", **changes: Any) -> dict[str, Any]:
    """What a plan has of the made-up run, or of its twin (`part`), changed as told."""
    return synthetic.planned_run(folder / part, **changes)


def change_run(raw: Path, **changes: Any) -> None:
    """Change what run.json says."""
    document = json.loads((raw / "run.json").read_text()) | changes
    (raw / "run.json").write_text(json.dumps(document))


def steps(folder: Path, **ends: str) -> dict[str, Any]:
    """A plan's two runs with the steps that every run has, but for how some end."""
    made = [{"name": name, "ends": ends.get(name, end)} for name, end in expected.steps(some_cell()).items()]
    return {"run": planned_run(folder, steps=made), "twin": planned_run(folder, "twin", steps=made)}


def ended(folder: Path, step: str, status: int) -> None:
    document = json.loads((folder / "raw/run.json").read_text())
    (entry,) = [entry for entry in document["steps"] if entry["name"] == step]
    entry["status"] = status
    (folder / "raw/run.json").write_text(json.dumps(document))


def test_a_step_that_is_to_fail(folder: Path) -> None:
    runs_planned = steps(folder, settle="fails")
    assert "step 'settle' was expected to fail, but succeeded" in loss.steps_succeeded(
        planned(folder, runs=runs_planned)
    )
    ended(folder, "settle", 5)
    assert loss.steps_succeeded(planned(folder, runs=runs_planned)) == []
    assert "step 'settle' ended with status 5" in loss.steps_succeeded(planned(folder))


def test_a_step_that_was_left_out(folder: Path) -> None:
    document = json.loads((folder / "raw/run.json").read_text())
    document["steps"] = [step for step in document["steps"] if step["name"] != "settle"]
    (folder / "raw/run.json").write_text(json.dumps(document))
    (said,) = loss.steps_succeeded(planned(folder, runs=steps(folder)))
    assert said.startswith("the steps were watch, set-timing, driver,") and "settle, driver" in said


def test_a_run_has_a_plan(folder: Path) -> None:
    (folder / "raw/plan.json").unlink()
    assert checks.reasons(stages.build(folder)) == ["raw/plan.json is missing"]


@pytest.mark.parametrize(
    ("requested", "uname", "reasons"),
    [
        ("6.12", "Linux board 6.12.117+deb13-arm64 #1 SMP", []),
        ("6.1", "Linux board 6.12.117+deb13-arm64", ["board kernel: requested '6.1', in effect '6.12'"]),
        ("6.12", "Linux board", ["board kernel: requested '6.12', could not be read back"]),
    ],
)
def test_the_kernel_is_the_planned_one(folder: Path, requested: str, uname: str, reasons: list[str]) -> None:
    (folder / "raw/board/kernel.txt").write_text(f"{uname}\n")
    run = planned(folder, expected=[{"group": "board", "name": "kernel", "requested": requested}])
    assert [one for one in settings.equal(run) if "kernel" in one] == reasons


def test_a_twin_that_was_not_planned(folder: Path) -> None:
    run = planned(folder, runs={"run": steps(folder)["run"]})
    assert "baseline run: the plan has no such run" in checks.reasons(run)


@pytest.mark.parametrize(
    ("part", "changes", "says"),
    [
        ("raw", {"observers": ["probes"]}, "observers ['probes']; planned: ['blktrace', 'probes']"),
        (
            "raw",
            {"probes": {"requested": "bio", "attached": 1, "expected": 1}},
            "probes 'bio'; planned: 'block,",
        ),
        ("twin/raw", {"observers": ["probes"]}, "observers ['probes']; planned: []"),
    ],
)
def test_who_watched_is_who_was_planned(folder: Path, part: str, changes: dict[str, Any], says: str) -> None:
    before, plan = checks.reasons(planned(folder)), (folder / "raw/plan.json").read_text()
    change_run(folder / part, **changes)
    (folder / "raw/plan.json").write_text(plan)
    (reason,) = [one for one in checks.reasons(stages.build(folder)) if "raw/run.json has the" in one]
    assert before == [] and says in reason
    assert reason.startswith("baseline run: ") == (part == "twin/raw")
