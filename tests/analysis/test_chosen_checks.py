"""No run chooses its own checks: what it says of itself leaves none out."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import synthetic
from test_planned import OBSERVERS, by_rule_2, change_run, planned

from analysis import checks
from analysis import run as runs
from analysis.checks import machine, release, unledgered
from analysis.recorded import Release

SECOND = "processor\t: 0\n\nprocessor\t: 1\n"
ONE_CPU = "raw/board/cpuinfo.txt has 2 processors; a virtual board has one"
# kB of a board of 2048 MiB with memory for what observers keep, and of another one
WITH_MEMORY, OTHER = 2_500_000, 3_500_000
RULE_1 = "the cell is of before there were plans (rule 1), and "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a run of before there were plans."""
    return synthetic.make(tmp_path / "run")


@pytest.fixture
def later(folder: Path) -> Path:
    """Of a run of the first release that made plans."""
    by_rule_2(folder)
    for part, names in (("raw", OBSERVERS), ("twin/raw", [])):
        change_run(folder / part, observers=names)
    return folder


def reasons(folder: Path) -> list[str]:
    return checks.reasons(runs.read(folder))


def memory(folder: Path, kib: int, *parts: str) -> None:
    for part in parts or ("raw", "twin/raw"):
        (folder / part / "board/meminfo.txt").write_text(f"MemTotal: {kib} kB\n")


@pytest.mark.parametrize("part", ["raw", "twin/raw"])
def test_a_virtual_board_has_one_cpu(folder: Path, part: str) -> None:
    assert reasons(folder) == []
    (folder / part / "board/cpuinfo.txt").write_text(SECOND)
    assert any(one.endswith(ONE_CPU) for one in reasons(folder))
    (folder / part / "board/cpuinfo.txt").write_text("Features: fp\n")
    assert any("has 0 processors" in one for one in reasons(folder))


def test_a_lab_board_may_have_more(folder: Path) -> None:
    cell = json.loads((folder / "cell.json").read_text())
    run = replace(runs.read(folder), cell={**cell, "board": "pi", "clock": "real"})
    run.board.run["clock"] = "real"
    run.board.texts["cpuinfo"] = SECOND
    assert machine.as_built(run) == []
    assert not machine.one_cpu(run)
    run.board.texts["cpuinfo"] = "processor\t: 0\n"
    assert machine.one_cpu(run)


def test_who_has_memory_watches(later: Path) -> None:
    """A board has it for each run since there is an observer that keeps so much."""
    assert checks.reasons(planned(later)) == []
    memory(later, WITH_MEMORY)
    watched = "the board had memory for content, and the run was not watched by it"
    assert checks.reasons(planned(later)) == [watched]
    memory(later, synthetic.MEMORY_KIB, "raw")
    assert checks.reasons(planned(later)) == ["the untraced twin's board had another MemTotal"]
    memory(later, OTHER)
    says = "raw/board/meminfo.txt: a virtual board of this cell has another MemTotal"
    assert checks.reasons(planned(later)) == [says]


def test_who_watched_has_memory(later: Path) -> None:
    run = planned(later)
    run.seen["content"] = run.seen["probes"]
    says = "the board had memory for none of them, and the run was watched by content"
    assert release.whole(run) == [says]


def test_who_watches_each_run_does(later: Path) -> None:
    run = planned(later)
    del run.seen["blktrace"]
    assert release.whole(run) == ["blktrace did not watch the run"]


def test_a_run_of_now_has_all_that_is_recorded_now(later: Path) -> None:
    usage = "raw/driver/phases.csv does not say what the driver used of the CPU"
    kept = "raw/board/meminfo.txt: the board had no memory for what observers keep"
    for said in ({"format": 2}, {"checks": checks.names()}):
        found = checks.reasons(planned(later, **said))
        assert {usage, f"untraced twin: {usage}", kept} <= set(found)
    with_usage(later / "twin/raw")
    assert usage in checks.reasons(planned(later))


def with_usage(raw: Path) -> None:
    """Add to phases.csv what the driver used of the CPU."""
    head, *rows = (raw / "driver/phases.csv").read_text().splitlines()
    lines = [f"{head},cpu_ns,waited,preempted", *(f"{row},9000,0,0" for row in rows)]
    (raw / "driver/phases.csv").write_text("\n".join([*lines, ""]))


def test_a_run_of_before_plans_has_nothing_of_later(folder: Path) -> None:
    assert runs.read(folder).release == Release.CELLS
    with_usage(folder / "twin/raw")
    assert f"{RULE_1}phases.csv says what the driver used of the CPU" in reasons(folder)
    by_one = synthetic.make(folder.parent / "other")
    memory(by_one, WITH_MEMORY, "twin/raw")
    assert f"{RULE_1}its board has memory for what observers keep" in reasons(by_one)
    memory(by_one, synthetic.MEMORY_KIB)
    assert reasons(by_one) == []
    change_run(by_one / "twin/raw", observers=[])
    assert reasons(by_one) == [f"{RULE_1}raw/run.json says who watched"]


@pytest.mark.parametrize("name", ["ext4-ordered-delete", "f2fs-wal"])
def test_a_run_without_a_ledger(name: str, tmp_path: Path) -> None:
    """What its calls and its records say needs none."""
    shutil.unpack_archive(Path(__file__).parent / f"samples/{name}.tar.xz", tmp_path)
    whole = runs.read(tmp_path / "run")
    assert unledgered.records(whole) == []
    run = replace(whole, cell={**whole.cell, "probes": "block,filesystem"}, ledger=None, content=None)
    assert unledgered.syncs(run) == [] == unledgered.frames(run)
    told = " ".join(unledgered.records(run))
    assert "records of bio, which no probe that was asked for writes" in told
    assert "records of sync" not in told
    run.events = run.events.with_row_index("row").filter(
        (pl.col("event") != "sync") | (pl.col("row") % 3 > 0) | (pl.col("row") < 100)
    )
    assert any("calls of SQLite and filesystem syncs disagree" in one for one in unledgered.syncs(run))
    run.driver = replace(run.driver, vfs=None)
    assert unledgered.syncs(run) == ["raw/driver/vfs.csv is missing"]
