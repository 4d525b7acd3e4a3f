"""A sweep on the board: a cell that fails, nothing to do, and a run that is repeated to the byte."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lab import Lab

# Two of at most four runs must be the same: QEMU 7.2 makes one late now and then
# (docs/measurements/repeatability.md), and no two late runs are alike.
MOST_RUNS = 4
SAME = (
    "driver/transactions.csv",
    "driver/device_stat.csv",
    "probes.bin",
    "blktrace/target.blktrace.0",
    "content.zst",
)


def test_a_failed_cell_is_shown_and_the_others_run(
    lab: Lab, pi: str, run_cell: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    grid = tmp_path / "failing.yml"
    fails = f", {{mode: wal, board: {pi}, clock: real, device: own, probes: none}}"
    grid.write_text(
        "description: one cell fails\nconstants: {fs: f2fs, rows: 1000, n: 50}\n"
        f"variants: [{{mode: wal}}{fails}]\n"
    )
    first = lab.make("sweep", GRID=str(grid), RETRIES="0")
    assert first.returncode != 0
    assert "2 runs: 1 ok (0 of them from before), 1 failed" in first.stdout
    assert "failed with 1: reserved by kim" in first.stdout
    listed = lab.ok("results", WHERE="grid=failing")
    assert "failed" in listed
    assert "reserved by kim" in listed
    grid.write_text(grid.read_text().replace(fails, ""))
    begin = time.monotonic()
    assert "1 runs: 1 ok (1 of them from before), 0 failed" in lab.ok("sweep", GRID=str(grid))
    assert time.monotonic() - begin < 20
    # Snakemake keeps its sources there, if it is let
    assert not list(home.iterdir())
    (summary,) = lab.results.glob("*/*/summary.json")
    assert "<svg" in (summary.parent / "report.html").read_text()
    is_repeated(summary.parent, run_cell)


def is_repeated(run: Path, run_cell: Callable[..., Path]) -> None:
    """Another run from the same snapshot is the same to the last byte."""
    assert json.loads((run / "summary.json").read_text())["status"] == "ok"
    found: dict[tuple[bytes, ...], Path] = {}
    for number in range(MOST_RUNS):
        content = tuple((run / "raw" / name).read_bytes() for name in SAME)
        if content in found:
            return
        found[content] = run
        # 1, 01, …: one seed, and each a run of its own; test_known_answers.py has the first
        run = run_cell(FS="f2fs", MODE="wal", **({"SEED": f"{1:0{number}}"} if number else {}))
    raise AssertionError(f"no two of {len(found)} runs are the same: {list(found.values())}")
