"""A sweep on the board: a cell that fails, nothing to do."""

import time
from pathlib import Path

import pytest
from lab import Lab


def test_a_failed_cell_is_shown_and_the_others_run(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    grid = tmp_path / "failing.yml"
    grid.write_text(
        "description: one cell fails\nconstants: {fs: f2fs, rows: 1000, n: 50}\n"
        # more sections than the device has
        "variants: [{mode: wal}, {mode: wal, mkfs_options: '-s 100000'}]\n"
    )
    first = lab.make("sweep", GRID=str(grid), RETRIES="0")
    assert first.returncode != 0
    assert "2 runs: 1 ok (0 of them from before), 1 failed" in first.stdout
    assert "prepare.yml: Make, mount and populate the filesystem: " in first.stdout
    listed = lab.ok("results", WHERE="grid=failing")
    assert "failed" in listed
    assert "Make, mount and populate" in listed
    grid.write_text(grid.read_text().replace(", {mode: wal, mkfs_options: '-s 100000'}", ""))
    begin = time.monotonic()
    assert "1 runs: 1 ok (1 of them from before), 0 failed" in lab.ok("sweep", GRID=str(grid))
    assert time.monotonic() - begin < 20
    # Snakemake keeps its sources there, if it is let
    assert not list(home.iterdir())
