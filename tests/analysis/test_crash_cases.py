"""`make crash-replay CASE=…`: what each file of experiments/crash-cases must be, and where its cut is."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import commands
import polars as pl
import pytest
import yaml

from analysis import run as runs
from analysis import stages
from analysis.crash import cuts
from analysis.crash.trials import Board
from base.errors import BadInputError, LabError
from commitpath import crash_cases

HERE = Path(__file__).parent
GOOD: dict[str, Any] = {
    "description": "one",
    "cell": {"device": "emmc-5.0", "rows": 1000, "n": 10},
    "cut": {"acknowledged": 1, "keeps": "nothing"},
    "shows": {"verdict": "lost"},
}


@pytest.mark.parametrize("name", crash_cases.names())
def test_each_is_sound(name: str) -> None:
    found = crash_cases.case(name)
    assert found.cell["crash"] == "power" and found.description
    assert len(found.shows) > 1, "a verdict alone is held by too much"


def says(*words: str) -> str:
    """The one line of a refused call."""
    done = commands.call("crash-replay", *words)
    assert done.returncode != 0 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    return str(line)


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        ("cell", {"fs": "zfs"}, "cell: FS=zfs: "),
        ("cell", {"colour": "red"}, "cell: COLOUR: unknown variable"),
        ("cell", {}, "cell: "),
        (
            "cell",
            {"device": "emmc-5.0", "crash": "none"},
            "cell: a case is of a run with CRASH=power or os that",
        ),
        ("cell", {"crash": "process"}, "cell: a case is of a run with CRASH=power or os that nothing"),
        ("cell", {"FS": "f2fs", "fs": "ext4-ordered"}, "cell: "),
        (
            "cell",
            {"device": "emmc-5.0", "probes": "block"},
            "cell: a case is of a run with CRASH=power or os that nothing",
        ),
        (
            "cell",
            {"device": "emmc-5.0", "engine": "ppl", "log_medium": "pcm"},
            "cell: LOG_MEDIUM=pcm: a case does not say what persistent memory keeps",
        ),
        ("cut", {"acknowledged": 0, "keeps": "nothing"}, "cut.acknowledged: 0 is less than the minimum of 1"),
        ("cut", {"acknowledged": 1, "keeps": "half"}, "cut.keeps: 'half' is "),
        ("cut", {"acknowledged": 1}, "cut: 'keeps' is a required property"),
        ("cut", {"command": 1, "keeps": "nothing"}, "cut: "),
        ("cut", {"command": 1, "where": "amid", "keeps": "nothing"}, "cut.where: 'amid' is not one of"),
        (
            "cut",
            {"acknowledged": 1, "command": 1, "where": "after", "keeps": "nothing"},
            "cut",
        ),
        ("shows", {"verdict": "gone"}, "shows.verdict: 'gone' is not one of"),
        ("trial", 5, "file: Additional properties are not allowed ('trial' was unexpected)"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, part: str, value: Any, told: str) -> None:
    path = tmp_path / "one.yml"
    path.write_text(yaml.safe_dump({**GOOD, part: value}))
    assert f"{path}: {told}" in says(f"CASE={path}")


def test_a_name_that_is_none() -> None:
    assert "CASE=none: no such case; there are delete-rolls-back-ext4, " in says("CASE=none")
    assert "CASE=: no such case" in says("CASE=")
    assert "a case has its own run and trial; leave out TRIAL=" in says(
        "CASE=delete-rolls-back-ext4", "TRIAL=1"
    )


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> runs.Twin:
    """What a run of DELETE with FULL left."""
    folder = tmp_path_factory.mktemp("case") / "cell"
    shutil.unpack_archive(HERE / "sample-crash.tar.xz", folder)
    run = stages.build(folder / "run")
    return runs.Twin(run.driver, run.board, run.log)


@pytest.fixture
def good(tmp_path: Path) -> crash_cases.Case:
    path = tmp_path / "good.yml"
    path.write_text(yaml.safe_dump(GOOD))
    return crash_cases.case(str(path))


def test_a_cut_by_a_transaction(left: runs.Twin, good: crash_cases.Case) -> None:
    """At its end: what had come by then is there or not, as the case says."""
    ends = left.driver.transactions["end_ns"].to_list()
    assert left.log is not None
    for number in (1, len(ends)):
        trial = replace(good, cut={"acknowledged": number, "keeps": "everything"}).trial(left)
        assert trial.moment == ends[number - 1] and trial.lost == ()
        begins = left.log.entries["begin_ns"]
        assert begins[trial.arrived - 1] <= trial.moment < begins[trial.arrived]


def test_a_board_of_trials_has_its_own_clock(left: runs.Twin, good: crash_cases.Case) -> None:
    """A transaction's end is where that board had it: there it has been acknowledged, too."""
    trial, late = good.trial(left), 8_000_000
    assert left.log is not None
    entries, ran = left.log.entries.copy(), left.driver.transactions
    for name in ("begin_ns", "end_ns"):
        entries[name] += late
    driver = replace(left.driver, transactions=ran.with_columns(pl.col("begin_ns", "end_ns") + late))
    board = Board("1", driver, replace(left.log, entries=entries), pl.DataFrame())
    assert good.on(board, trial) == replace(trial, moment=trial.moment + late)
    with pytest.raises(LabError, match=f"commands had come at that moment .*, and {trial.arrived + 1} in"):
        good.on(board, replace(trial, arrived=trial.arrived + 1))


def test_a_cut_by_a_command_that_keeps_some(left: runs.Twin, good: crash_cases.Case) -> None:
    assert left.log is not None
    flush = next(
        number
        for number in cuts.Commands(left.log.entries, cuts.Cache.of(good.cell["profiles"]["device"]))
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


def test_a_cut_beyond_the_end(left: runs.Twin, good: crash_cases.Case) -> None:
    with pytest.raises(BadInputError, match=r"cut\.acknowledged: 31 of 15 transactions"):
        replace(good, cut={"acknowledged": 31, "keeps": "nothing"}).trial(left)
    assert left.log is not None
    last = left.log.entries.size - 1
    with pytest.raises(BadInputError, match=rf"cut\.command: {last + 1} is behind the run's last, {last}"):
        replace(good, cut={"command": last + 1, "where": "after", "keeps": "nothing"}).trial(left)


def test_what_came_of_it_is_compared(good: crash_cases.Case) -> None:
    row = {
        **{"where": "after", "command": 5, "policy": "nothing", "losable": 2, "acknowledged": 1},
        **{"verdict": "lost", "transactions": 0, "lost": 1, "said": "", "operation": "flush"},
        **dict.fromkeys(["kind", "phase", "engine_call", "filesystem_work"]),
    }
    assert good.compared(row).endswith("lost, 0 are there; as the case has it")
    with pytest.raises(LabError, match="came out another way: verdict is 'whole', and was 'lost'"):
        good.compared({**row, "verdict": "whole"})
