"""Runs on the flash model: the device's parts of time add up; its log fits the kernel's counts."""

import json
from collections.abc import Callable
from pathlib import Path

from test_crash import SHORT
from test_large_syncs import LARGE


def test_a_run_on_flash_holds(run_cell: Callable[..., Path]) -> None:
    """All profile settings were read back, and the device's causes of time add up."""
    run = run_cell(**LARGE)
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    lines = (run / "raw/board/device_time.txt").read_text().splitlines()
    counters = {name: int(value) for name, value in (line.split("=") for line in lines)}
    causes = sum(v for k, v in counters.items() if k.startswith("time_") and k != "time_ns")
    assert causes == counters["time_ns"] > 0
    assert counters["write_bytes"] >= result["block"]["bytes_written"]
    # the device's own log is the second witness, of the baseline run, too
    assert not (run / "raw/blktrace").exists()
    assert result["twin_commands"]["run"] == result["twin_commands"]["twin"] > 30
    counted = json.loads((run / "manifest.json").read_text())["window"]["counted"]
    assert sorted(counted) == ["device log", "probe", "stat"]


def test_an_unwatched_run_has_a_witness(run_cell: Callable[..., Path]) -> None:
    """Its bytes and flushes by the device's log are the kernel's, and the run is as long as its log."""
    run = run_cell(**SHORT)
    assert json.loads((run / "summary.json").read_text())["status"] == "ok"
    counted = json.loads((run / "manifest.json").read_text())["window"]["counted"]
    assert counted["stat"]["writes"] is None
    assert counted["device log"]["bytes_written"] == counted["stat"]["bytes_written"] > 0
    assert counted["device log"]["flushes"] == counted["stat"]["flushes"] > 0
