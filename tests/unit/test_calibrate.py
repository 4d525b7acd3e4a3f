"""Calibration: the table and the figure against a profile's sources, from made-up measurements."""

from pathlib import Path
from typing import Any

import pytest

from analysis.instrument.calibration import measure, table
from commitpath.commands import calibrate
from commitpath.commands.calibrate import DEPTHS, figure, source_iops

SOURCES = [
    {"measure": "read_random_4k_qd32", "value": 19000, "unit": "IOPS", "source": "a table"},
    {"measure": "read_random_4k_qd1", "value": 4.096, "unit": "MB/s", "source": "a card"},
    {"measure": "write_random_4k_qd2", "value": 4000, "unit": "us", "source": "a phone"},
    {"measure": "write_fdatasync_4k", "value": 1000, "unit": "us", "source": "a paper"},
]


def fio(side: str, iops: float, runtime_ms: int = 1000) -> dict[str, Any]:
    """What calibrate.sh prints of a job that does `iops` for `runtime_ms`."""
    ios = round(iops * runtime_ms / 1000)
    numbers = {
        "runtime": runtime_ms,
        "total_ios": ios,
        "iops": iops,
        "io_bytes": ios * 4096,
        "lat_ns": {"mean": 1e9 / iops},
    }
    stats = {"time_ns": 10, "time_merge_ns": 9, "time_bus_ns": 1}
    return {"fio": {"jobs": [{side: numbers}]}, "stats": stats}


@pytest.fixture
def raw() -> dict[str, Any]:
    jobs = {
        f"{side}_random_4k_qd{depth}": fio(side, 1000 * depth)
        for side in ("read", "write")
        for depth in DEPTHS
    }
    return {**jobs, "write_fdatasync_4k": fio("write", 2000, 500)}


def test_sources_as_iops() -> None:
    profile = {"sources": SOURCES}
    assert source_iops(profile, "read_random_4k") == {32: 19000, 1: 1000}
    assert source_iops(profile, "write_random_4k") == {2: 500}


def test_table_says_how_far_off(raw: dict[str, Any]) -> None:
    lines = "\n".join(table({"sources": SOURCES}, raw))
    assert "merge 90 %, bus 10 %" in lines
    for name, off in (
        ("read_random_4k_qd32", "+68.4 %"),
        ("read_random_4k_qd1 ", "+0.0 %"),
        ("write_fdatasync_4k", "-50.0 %"),
    ):
        assert any(line.startswith(name) and off in line for line in lines.splitlines()), name


def test_what_is_kept_is_whole(raw: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "RESULTS", tmp_path)
    folder = calibrate.keep("mine", {"sources": SOURCES}, raw, "first")
    assert sorted(path.name for path in folder.iterdir()) == ["depth.svg", "raw.json", "table.txt"]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.setattr(calibrate, "figure", None)
    with pytest.raises(TypeError):
        calibrate.keep("mine", {"sources": SOURCES}, raw, "second")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_figure_is_the_same_bytes(raw: dict[str, Any], tmp_path: Path) -> None:
    results = {name: measure(name, entry) for name, entry in raw.items()}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        figure({"sources": SOURCES}, results, tmp_path / name / "depth.svg", "made up")
    drawn = (tmp_path / "a/depth.svg").read_text()
    assert drawn == (tmp_path / "b/depth.svg").read_text()
    assert "write random, source" in drawn
