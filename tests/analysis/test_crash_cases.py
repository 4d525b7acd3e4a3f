"""`make crash-replay CASE=…`: what each file of experiments/crash-cases must be, and where its cut is."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis import recorded
from analysis.run import Run
from base.errors import BadInputError, LabError
from commitpath.commands import crash_cases
from model.crash_points import cuts

GOOD: dict[str, Any] = {
    "description": "one",
    "cell": {"device": "emmc-5.0", "rows": 1000, "n": 10},
    "cut": {"acknowledged": 1, "keeps": "nothing"},
    "shows": {"verdict": "lost"},
}


@pytest.mark.parametrize("name", crash_cases.names())
def test_each_is_sound(name: str) -> None:
    found = crash_cases.case(name)
    assert found.cell.crash == "power"
    assert len(found.shows) > 1, "a verdict alone is held by too much"


@pytest.fixture(scope="module")
def left(built_run: Callable[[str], Run]) -> recorded.Twin:
    """What a run of DELETE with FULL left."""
    run = built_run("sample-crash")
    return recorded.Twin(run.driver, run.board, run.log)


@pytest.fixture
def good(tmp_path: Path) -> crash_cases.Case:
    path = tmp_path / "good.yml"
    path.write_text(yaml.safe_dump(GOOD))
    return crash_cases.case(str(path))


def test_a_cut_by_a_transaction(left: recorded.Twin, good: crash_cases.Case) -> None:
    """At its end: what had come by then is there or not, as the case says."""
    ends = left.driver.transactions["end_ns"].to_list()
    assert left.log is not None
    for number in (1, len(ends)):
        trial = replace(good, cut={"acknowledged": number, "keeps": "everything"}).trial(left)
        assert trial.moment == ends[number - 1] and trial.lost == ()
        begins = left.log.entries["begin_ns"]
        assert begins[trial.arrived - 1] <= trial.moment < begins[trial.arrived]


def test_a_cut_by_a_command_that_keeps_some(left: recorded.Twin, good: crash_cases.Case) -> None:
    assert left.log is not None
    flush = next(
        number
        for number in cuts.Commands(left.log.entries, cuts.Cache.from_profile(good.cell.profiles["device"]))
        .is_flush.nonzero()[0]
        .tolist()
        if number > 20
    )
    cut = {"command": flush, "where": "before", "keeps": "nothing"}
    lost = replace(good, cut=cut).trial(left).lost
    assert len(lost) > 1
    kept = replace(good, cut={**cut, "keeps": [lost[-1]]}).trial(left)
    assert kept.lost == lost[:-1] and kept.policy == "subset" and kept.losable == len(lost)
    with pytest.raises(BadInputError, match=r"cut\.keeps: 0 cannot be lost then, only \["):
        replace(good, cut={**cut, "keeps": [0]}).trial(left)


def test_what_came_of_it_is_compared(good: crash_cases.Case) -> None:
    row = {
        **{"where": "after", "command": 5, "policy": "nothing", "losable": 2, "acknowledged": 1},
        **{"verdict": "lost", "transactions": 0, "lost": 1, "said": "", "operation": "flush"},
        **dict.fromkeys(["kind", "phase", "engine_call", "filesystem_work"]),
    }
    assert good.compared(row).endswith("lost, 0 are there; as the case has it")
    with pytest.raises(LabError, match="came out another way: verdict is 'whole', and was 'lost'"):
        good.compared({**row, "verdict": "whole"})


def test_a_file_of_a_case_is_in_its_folder(tmp_path: Path) -> None:
    """Cases are shared: one of another lab reads no other file."""
    path = tmp_path / "case.yml"
    (tmp_path / "load.sql").write_text(
        "CREATE TABLE t(a);\n-- commitpath: transactions\nINSERT INTO t VALUES(1);\n"
    )
    cell = {"device": "emmc-5.0", "workload": "sql"}
    path.write_text(yaml.safe_dump({**GOOD, "cell": {**cell, "file": "load.sql"}}))
    assert crash_cases.case(str(path)).cell.workload == "sql"
    for file in ("/etc/passwd", "../load.sql"):
        path.write_text(yaml.safe_dump({**GOOD, "cell": {**cell, "file": file}}))
        with pytest.raises(BadInputError, match=f"cell.file: {file}: it must be in the case's folder"):
            crash_cases.case(str(path))
