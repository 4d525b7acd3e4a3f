"""What a run's plan says is what its checks go by."""

import json
from pathlib import Path
from typing import Any

import pytest
import synthetic

from analysis import checks
from analysis import run as runs
from analysis.checks import loss, settings
from analysis.expected import of
from base import identity
from base.errors import BadInput

# of the made-up run; its twin has none
OBSERVERS = ["blktrace", "probes"]


def planned_run(folder: Path, part: str = ".", **changes: Any) -> dict[str, Any]:
    """What a plan has of the made-up run, or of its twin (`part`), changed as told."""
    said = json.loads((folder / part / "raw/run.json").read_text())
    probes = said["probes"]["requested"]
    return {
        "observers": OBSERVERS if probes else [],
        "probes": probes.split(",") if probes else [],
        "files": {},
        "steps": [{"name": step["name"], "ends": "ok"} for step in said["steps"]],
    } | changes


def planned(folder: Path, **changes: Any) -> runs.Run:
    """A made-up run with a plan, changed as told, read."""
    cell = json.loads((folder / "cell.json").read_text())
    plan = {
        "format": 1,
        "cell_id": identity.cell_id(cell),
        "cell_name": identity.cell_name(cell),
        "cell": cell,
        "board": {},
        "runs": {"run": planned_run(folder), "twin": planned_run(folder, "twin")},
        "expected": [vars(one) for one in of(identity.current(cell))],
        "checks": checks.names(),
    } | changes
    (folder / "raw/plan.json").write_text(json.dumps(plan))
    return runs.read(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = synthetic.make(tmp_path / "run")
    for part, names in (("raw", OBSERVERS), ("twin/raw", [])):
        change_run(made / part, observers=names)
    return made


def change_run(raw: Path, **changes: Any) -> None:
    """Change what run.json says."""
    document = json.loads((raw / "run.json").read_text()) | changes
    (raw / "run.json").write_text(json.dumps(document))


def test_a_planned_run_is_checked_as_one_without_a_plan(folder: Path) -> None:
    without = runs.read(folder)
    assert without.plan is None
    with_plan = planned(folder)
    assert checks.reasons(with_plan) == checks.reasons(without)
    assert settings.compare(with_plan) == settings.compare(without)


def test_a_step_that_is_to_fail(folder: Path) -> None:
    (step,) = json.loads((folder / "raw/run.json").read_text())["steps"]
    run = planned_run(folder, steps=[{"name": step["name"], "ends": "fails"}])
    assert f"step {step['name']!r} was to fail and did not" in loss.steps_succeeded(
        planned(folder, runs={"run": run, "twin": run})
    )
    document = json.loads((folder / "raw/run.json").read_text())
    document["steps"][0]["status"] = 5
    (folder / "raw/run.json").write_text(json.dumps(document))
    assert loss.steps_succeeded(planned(folder, runs={"run": run, "twin": run})) == []
    assert f"step {step['name']!r} ended with status 5" in loss.steps_succeeded(planned(folder))


def test_a_step_that_was_left_out(folder: Path) -> None:
    steps = [{"name": name, "ends": "ok"} for name in ("workload", "record-board")]
    run = planned_run(folder, steps=steps)
    assert "the steps were workload; planned: workload, record-board" in loss.steps_succeeded(
        planned(folder, runs={"run": run, "twin": run})
    )


def test_what_is_expected_is_the_plans(folder: Path) -> None:
    run = planned(folder, expected=[{"group": "SQLite", "name": "synchronous", "requested": "extra"}])
    assert any("synchronous: requested 'extra', in effect 'full'" in one for one in settings.equal(run))


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


def test_a_check_that_is_not_known(folder: Path) -> None:
    run = planned(folder, checks=["loss.host_there", "moon.full"])
    assert checks.reasons(run) == ["the plan has a check that is not known here: moon.full"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": 2}, "format"),
        ({"checks": []}, "checks"),
        ({"cell": {"n": 1}}, "it is of another cell than cell.json"),
        ({"steps": 1}, "steps"),
    ],
)
def test_a_plan_that_is_none(folder: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        planned(folder, **changes)


def test_a_twin_that_was_not_planned(folder: Path) -> None:
    run = planned(folder, runs={"run": planned_run(folder)})
    assert "untraced twin: the plan has no such run" in checks.reasons(run)


@pytest.mark.parametrize(
    ("part", "changes", "says"),
    [
        ("raw", {"observers": ["probes"]}, "observers ['probes']; planned: ['blktrace', 'probes']"),
        (
            "raw",
            {"probes": {"requested": "bio", "attached": 1, "expected": 1}},
            "probes 'bio'; planned: 'block,",
        ),
        ("raw", {"probes": 1}, "probes None; planned: 'block,"),
        ("twin/raw", {"observers": ["probes"]}, "observers ['probes']; planned: []"),
        ("twin/raw", {"observers": None}, "observers None; planned: []"),
    ],
)
def test_who_watched_is_who_was_planned(folder: Path, part: str, changes: dict[str, Any], says: str) -> None:
    before, plan = checks.reasons(planned(folder)), (folder / "raw/plan.json").read_text()
    change_run(folder / part, **changes)
    (folder / "raw/plan.json").write_text(plan)
    (reason,) = [one for one in checks.reasons(runs.read(folder)) if "raw/run.json has the" in one]
    assert before == [] and says in reason
    assert reason.startswith("untraced twin: ") == (part == "twin/raw")


def test_without_a_plan_the_cell_says_who_watches(folder: Path) -> None:
    """Of a run from before there were plans."""
    change_run(folder / "raw", observers=["blktrace"])
    says = ["probes did not watch the run (raw/run.json, observers)"]
    assert loss.observers_watched(runs.read(folder)) == says
    change_run(folder / "raw", observers=["probes"])
    assert loss.observers_watched(runs.read(folder)) == []
