"""A sweep names runs whose times are not those of their like."""

import json
from pathlib import Path

import pytest
from some_cell import some_cell

from commitpath.database.select import Run
from commitpath.results import clocks


def test_runs_that_are_alike_have_the_same_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "RESULTS", tmp_path)

    def run(name: str, times: str, seed: int = 1, board: str = "a", status: str = "ok") -> Run:
        # the device's counters end with its time, so a late clock changes them too
        hashes = {f"raw/{name}": times for name in ("driver/transactions.csv", "board/device_time.txt")}
        hashes |= {"raw/plan.json": "p"}
        host = {"run_id": name, "raw_sha256": hashes, "snapshots": [board], "program": "driver"}
        if board == "unknown":
            del host["snapshots"]
        if board == "not held":
            del host["raw_sha256"]
        (tmp_path / name).mkdir()
        (tmp_path / name / "host.json").write_text(json.dumps(host))
        return Run(
            settings={},
            facts={"status": status},
            grids=frozenset(),
            path=name,
            reasons=(),
            cell=some_cell(seed=seed),
            cell_id="c",
            summary={"run_id": name, "clock": "virtual"},
            _documents={"host": json.dumps(host)},
        )

    runs = [run("r1", "x"), run("r2", "x")]
    runs += [run("other-seed", "y", seed=2), run("other-board", "y", board="b")]
    runs += [run("rejected", "y", status="rejected")]
    runs += [run("old", "y", board="unknown"), run("slim", "y", board="not held")]
    assert clocks.odd(runs) == clocks.odd([]) == []
    assert clocks.odd([*runs, run("late", "z")]) == ["late"]
