"""What the kill test calls a difference."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sweep"))

import kill

BASE = {"virtual_seconds": 0.139961072, "latency_us": {"insert": {"p50": 4385.5}}, "block": {"writes": 3}}


@pytest.mark.parametrize(
    ("name", "value", "equal"),
    [
        ("virtual_seconds", 0.139960608, True),
        ("virtual_seconds", 0.139900000, False),
        ("latency_us", {"insert": {"p50": 4386.0}}, True),
        ("latency_us", {"insert": {"p50": 4485.5}}, False),
        ("latency_us", {"insert": {"p50": None}}, False),
        ("latency_us", {"insert": {}}, False),
        ("block", {"writes": 4}, False),
        ("other", 1, False),
    ],
)
def test_only_a_late_clock_is_no_difference(name: str, value: object, equal: bool) -> None:
    assert (kill.different(BASE, {**BASE, name: value}) == []) is equal


def test_a_late_clock_is_no_fault_of_a_sweep(tmp_path: Path) -> None:
    for name, seconds, writes in (("calm", 1.0, 3), ("late", 1.00002, 3), ("other", 1.0, 4)):
        run = tmp_path / name / "cell/run"
        run.mkdir(parents=True)
        (run / "host.json").write_text('{"repeat": 1}')
        told = {"virtual_seconds": seconds, "block": {"writes": writes}}
        (run / "summary.json").write_text(json.dumps(told))
    assert kill.faults(tmp_path / "calm", tmp_path / "late") == []
    (fault,) = kill.faults(tmp_path / "calm", tmp_path / "other")
    assert fault.startswith("differs: cell repeat 1: block ")
