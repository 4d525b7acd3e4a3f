"""What a run's plan says is what its checks go by."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import synthetic

from analysis import checks, expected, pipeline, recorded
from analysis import run as runs
from analysis.adapters import driver
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
        # those of then
        "checks": [name for name in checks.names() if name not in recorded.CHECKS],
    } | changes
    (folder / "raw/plan.json").write_text(json.dumps(plan))
    return runs.read(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the first release that made plans: its cell is by rule 2, its run.json says who watched."""
    made = synthetic.make(tmp_path / "run")
    by_rule_2(made)
    for part, names in (("raw", OBSERVERS), ("twin/raw", [])):
        change_run(made / part, observers=names)
    return made


def by_rule_2(folder: Path) -> None:
    """Call the axes of a made-up run as they are called now."""
    cell = json.loads((folder / "cell.json").read_text())
    named = {identity.RENAMED.get(key, key): value for key, value in cell.items()}
    cell = {**named, "engine": "sqlite", "at_default": []}
    cell["profiles"].pop("mode", None)
    (folder / "cell.json").write_text(json.dumps(cell))
    host = json.loads((folder / "host.json").read_text())
    host["cell_id"] = identity.cell_id(cell)
    (folder / "host.json").write_text(json.dumps(host))


def change_run(raw: Path, **changes: Any) -> None:
    """Change what run.json says."""
    document = json.loads((raw / "run.json").read_text()) | changes
    (raw / "run.json").write_text(json.dumps(document))


def test_a_planned_run_is_checked_as_one_without_a_plan(folder: Path, tmp_path: Path) -> None:
    without = runs.read(synthetic.make(tmp_path / "earlier"))
    assert without.plan is None
    with_plan = planned(folder)
    assert checks.reasons(with_plan) == checks.reasons(without)
    assert settings.compare(with_plan) == settings.compare(without)


def test_a_planned_run_has_what_the_engine_was_given(folder: Path) -> None:
    """The hash alone is what drivers of before there were plans left."""
    for raw in (folder / "raw", folder / "twin/raw"):
        digest = driver.read(raw / "driver").config["sql_sha256"]
        config = json.loads((raw / "driver/config.json").read_text()) | {"sql_sha256": digest}
        (raw / "driver/config.json").write_text(json.dumps(config))
        (raw / "driver/rendered.gz").unlink()
    assert checks.reasons(runs.read(folder)) == ["raw/plan.json is missing"]
    assert checks.reasons(planned(folder)) == ["raw/driver/rendered.gz is missing"]


def steps(folder: Path, **ends: str) -> dict[str, Any]:
    """A plan's two runs with the steps that every run has, but for how some end."""
    made = [{"name": name, "ends": ends.get(name, end)} for name, end in expected.steps({}).items()]
    return {"run": planned_run(folder, steps=made), "twin": planned_run(folder, "twin", steps=made)}


def ended(folder: Path, step: str, status: int) -> None:
    document = json.loads((folder / "raw/run.json").read_text())
    (entry,) = [entry for entry in document["steps"] if entry["name"] == step]
    entry["status"] = status
    (folder / "raw/run.json").write_text(json.dumps(document))


def test_a_step_that_is_to_fail(folder: Path) -> None:
    runs_planned = steps(folder, settle="fails")
    assert "step 'settle' was to fail and did not" in loss.steps_succeeded(planned(folder, runs=runs_planned))
    ended(folder, "settle", 5)
    assert loss.steps_succeeded(planned(folder, runs=runs_planned)) == []
    assert "step 'settle' ended with status 5" in loss.steps_succeeded(planned(folder))


def test_a_step_that_was_left_out(folder: Path) -> None:
    document = json.loads((folder / "raw/run.json").read_text())
    document["steps"] = [step for step in document["steps"] if step["name"] != "settle"]
    (folder / "raw/run.json").write_text(json.dumps(document))
    (said,) = loss.steps_succeeded(planned(folder, runs=steps(folder)))
    assert said.startswith("the steps were watch, set-timing, driver,") and "settle, driver" in said


def test_what_a_plan_expects_beside_the_cell_counts_too(folder: Path) -> None:
    run = planned(folder, expected=[{"group": "SQLite", "name": "synchronous", "requested": "extra"}])
    assert any("synchronous: requested 'extra', in effect 'full'" in one for one in settings.equal(run))


def test_a_plan_takes_nothing_away(folder: Path) -> None:
    """It is a file of the run: what it leaves out is checked all the same."""
    (folder / "raw/dmesg.txt").write_text("<0>[    2.0] Kernel panic\n")
    (folder / "raw/board/device.txt").write_text("completion_nsec=10000\n")
    (folder / "raw/board/kernel.txt").write_text("Linux board 5.10.0-34-arm64 #1 SMP\n")
    found = " ".join(checks.reasons(planned(folder, checks=["loss.host_there"], expected=[])))
    assert "Kernel panic" in found
    assert "completion_nsec: requested '2000000', in effect '10000'" in found
    assert "board kernel: requested '6.12', in effect '5.10'" in found


@pytest.mark.parametrize("limits", [[1], 5, {"celsius": "80"}, {"celsius": True}, {"celsius": -1}])
def test_limits_are_numbers(folder: Path, limits: Any) -> None:
    with pytest.raises(BadInput, match=r"board\.limits"):
        planned(folder, board={"limits": limits})


def test_a_limit_that_a_plan_lacks_is_not_in_its_page(folder: Path) -> None:
    edge = {"boot_id": "a", "clocksource": "b", "mounts": "c", "temperature/cpu": "50000"}
    document = {"begin": edge | {"time_ns": "1"}, "end": edge | {"time_ns": "5"}, "board": {}}
    (folder / "raw/board/covariates.json").write_text(json.dumps(document))
    planned(folder, board={"limits": {"foreign_commands": 0.5}})
    pipeline.analyse(folder)
    page = (folder / "report.html").read_text()
    assert re.search(r"<th>foreign_commands</th>.*>0.5<", page) and re.search(r"<th>celsius</th>.*>–<", page)


def test_a_run_by_rule_2_has_a_plan(folder: Path) -> None:
    assert checks.reasons(runs.read(folder)) == ["raw/plan.json is missing"]


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


def test_a_plan_may_list_checks_of_another_release(folder: Path) -> None:
    assert checks.reasons(planned(folder, checks=["loss.host_there", "moon.full"])) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": 5}, "format"),
        ({"checks": []}, "checks"),
        ({"cell": {"n": 1}}, "it is of another cell than cell.json"),
        ({"steps": 1}, "steps"),
    ],
)
def test_a_plan_that_is_none(folder: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        planned(folder, **changes)


def test_a_twin_that_was_not_planned(folder: Path) -> None:
    run = planned(folder, runs={"run": steps(folder)["run"]})
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
