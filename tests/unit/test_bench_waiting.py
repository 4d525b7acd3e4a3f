"""`make bench-waiting` times the preparation of a board without touching those that are there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import waiting


def test_another_board_is_prepared_in_a_cache_without_prepared_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("image-6.12-a", "snapshots/provisioned-flashsim-b", "snapshots/ext4-ordered-1000-3072-c"):
        (tmp_path / "cache" / name).mkdir(parents=True)
    (tmp_path / "cache/image-6.12-a.lock").touch()
    seen = []

    def experiment(cache: Path, *_: str) -> tuple[float, list[tuple[str, float]]]:
        seen.extend(sorted(str(path.relative_to(cache)) for path in cache.rglob("*")))
        return 9.0, [("prepare a board", 3.0), ("attach the probes", 2.0), ("run the cell", 4.0)]

    monkeypatch.setattr(waiting, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(waiting, "experiment", experiment)
    assert waiting.of_other_board(tmp_path / "work") == [("prepare a board", 3.0), ("attach the probes", 2.0)]
    assert seen == ["image-6.12-a", "snapshots", "snapshots/provisioned-flashsim-b"]
