"""Checks that a run cannot evade: a virtual board has one CPU; without a ledger, calls fit the syncs seen."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from analysis import checks, stages
from analysis.checks import file_calls
from analysis.run import Run

SECOND = "processor\t: 0\n\nprocessor\t: 1\n"
ONE_CPU = "raw/board/cpuinfo.txt has 2 processors; a virtual board has one"


def reasons(folder: Path) -> list[str]:
    return checks.reasons(stages.build(folder))


@pytest.mark.parametrize("part", ["raw", "twin/raw"])
def test_a_virtual_board_has_one_cpu(run_dir: Path, part: str) -> None:
    assert reasons(run_dir) == []
    (run_dir / part / "board/cpuinfo.txt").write_text(SECOND)
    assert any(one.endswith(ONE_CPU) for one in reasons(run_dir))
    (run_dir / part / "board/cpuinfo.txt").write_text("Features: fp\n")
    assert any("has 0 processors" in one for one in reasons(run_dir))


@pytest.mark.parametrize("name", ["ext4-ordered-delete", "f2fs-wal"])
def test_a_run_without_a_ledger(name: str, built_run: Callable[[str], Run]) -> None:
    """Its calls are compared with the syncs that the probes saw."""
    whole = built_run(f"samples/{name}")
    run = replace(whole, cell=replace(whole.cell, probes="block,filesystem"), ledger=None, content=None)
    assert file_calls.syncs_without_ledger(run) == []
    some = run.events.with_row_index("row").filter(
        (pl.col("event") != "sync") | (pl.col("row") % 3 > 0) | (pl.col("row") < 100)
    )
    run = replace(run, events=some)
    reasons = file_calls.syncs_without_ledger(run)
    assert any("SQLite calls with another number of filesystem syncs" in reason for reason in reasons)
    run = replace(run, driver=replace(run.driver, vfs=None))
    assert file_calls.syncs_without_ledger(run) == ["raw/driver/vfs.csv is missing"]
