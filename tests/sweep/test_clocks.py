"""A sweep names runs whose times are not those of their like."""

import json
from pathlib import Path

import pytest

from commitpath.sweep import clocks


def test_runs_that_are_alike_have_the_same_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "RESULTS", tmp_path)

    def run(name: str, times: str, seed: int = 1, board: str = "a", status: str = "ok") -> Path:
        folder = tmp_path / "cell" / name
        folder.mkdir(parents=True)
        hashes = {"raw/driver/transactions.csv": times, "raw/board/superblock.txt": board}
        documents = {
            "host": {"run_id": name, "raw_sha256": hashes},
            "cell": {"seed": seed},
            "summary": {"run_id": name, "status": status, "clock": "virtual"},
        }
        for document, content in documents.items():
            (folder / f"{document}.json").write_text(json.dumps(content))
        return folder

    runs = [run("r1", "x"), run("r2", "x")]
    runs += [run("other-seed", "y", seed=2), run("other-board", "y", board="b")]
    run("rejected", "y", status="rejected")
    (tmp_path / "cell" / "half").mkdir()
    assert clocks.odd(runs) == []
    # one that a sweep of before has run
    run("late", "z")
    assert clocks.odd(runs[:1]) == ["cell/late"]
    assert clocks.odd([]) == []
