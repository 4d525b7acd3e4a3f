"""A run is checked against its plan: steps, kernel, observers, and the baseline run."""

from pathlib import Path
from typing import Any

import pytest
import synthetic
from edited import change, edit
from some_cell import some_cell

from analysis import checks, stages
from analysis import run as runs
from analysis.checks import loss, settings
from model.requested import expected


def planned(folder: Path, **changes: Any) -> runs.Run:
    """A made-up run with a plan, changed as told, read."""
    synthetic.plan(folder, **changes)
    return stages.build(folder)


def planned_run(folder: Path, part: str = ".", **changes: Any) -> dict[str, Any]:
    """What a plan has of the made-up run, or of its twin (`part`), changed as told."""
    return synthetic.planned_run(folder / part, **changes)


def steps(folder: Path, **ends: str) -> dict[str, Any]:
    """A plan's two runs with the steps that every run has, but for how some end."""
    made = [{"name": name, "ends": ends.get(name, end)} for name, end in expected.steps(some_cell()).items()]
    return {"run": planned_run(folder, steps=made), "twin": planned_run(folder, "twin", steps=made)}


def settle(run: dict[str, Any]) -> dict[str, Any]:
    (entry,) = [step for step in run["steps"] if step["name"] == "settle"]
    return entry


def test_a_step_that_is_to_fail(run_dir: Path) -> None:
    runs_planned = steps(run_dir, settle="fails")
    assert "step 'settle' was expected to fail, but succeeded" in loss.steps_succeeded(
        planned(run_dir, runs=runs_planned)
    )
    change(run_dir / "raw/run.json", lambda run: settle(run).update(status=5))
    assert loss.steps_succeeded(planned(run_dir, runs=runs_planned)) == []
    assert "step 'settle' ended with status 5" in loss.steps_succeeded(planned(run_dir))


def test_a_step_that_was_left_out(run_dir: Path) -> None:
    change(run_dir / "raw/run.json", lambda run: run["steps"].remove(settle(run)))
    (said,) = loss.steps_succeeded(planned(run_dir, runs=steps(run_dir)))
    assert said.startswith("the steps were watch, set-timing, driver,") and "settle, driver" in said


def test_a_run_has_a_plan(run_dir: Path) -> None:
    (run_dir / "raw/plan.json").unlink()
    assert checks.reasons(stages.build(run_dir)) == ["raw/plan.json is missing"]


@pytest.mark.parametrize(
    ("requested", "uname", "reasons"),
    [
        ("6.12", "Linux board 6.12.117+deb13-arm64 #1 SMP", []),
        ("6.1", "Linux board 6.12.117+deb13-arm64", ["board kernel: requested '6.1', in effect '6.12'"]),
        ("6.12", "Linux board", ["board kernel: requested '6.12', could not be read back"]),
    ],
)
def test_the_kernel_is_the_planned_one(run_dir: Path, requested: str, uname: str, reasons: list[str]) -> None:
    (run_dir / "raw/board/kernel.txt").write_text(f"{uname}\n")
    run = planned(run_dir, expected=[{"group": "board", "name": "kernel", "requested": requested}])
    assert [one for one in settings.equal(run) if "kernel" in one] == reasons


def test_a_twin_that_was_not_planned(run_dir: Path) -> None:
    run = planned(run_dir, runs={"run": steps(run_dir)["run"]})
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
def test_who_watched_is_who_was_planned(run_dir: Path, part: str, changes: dict[str, Any], says: str) -> None:
    before, plan = checks.reasons(planned(run_dir)), (run_dir / "raw/plan.json").read_text()
    edit(run_dir / part / "run.json", **changes)
    (run_dir / "raw/plan.json").write_text(plan)
    (reason,) = [one for one in checks.reasons(stages.build(run_dir)) if "raw/run.json has the" in one]
    assert before == [] and says in reason
    assert reason.startswith("baseline run: ") == (part == "twin/raw")
