"""Probe, blktrace, flash device's log and kernel count alike; a device without a cache has no flushes."""

import json
from collections.abc import Callable
from pathlib import Path


def test_blktrace_and_the_devices_log_agree(run_cell: Callable[..., Path]) -> None:
    """Four witnesses: the probe, blktrace, the device's own log and the kernel's counters."""
    run = run_cell(FS="ext4", DEVICE="emmc-5.0", PROBES="all,blktrace")
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    counted = json.loads((run / "manifest.json").read_text())["window"]["counted"]
    assert sorted(counted) == ["blktrace", "device log", "probe", "stat"]
    for name, number in counted["stat"].items():
        assert {numbers[name] for numbers in counted.values()} == {number}, name
    assert counted["device log"]["fua"] == counted["probe"]["fua"] > 0
    assert counted["device log"]["writes"] > 300


def test_a_device_without_a_cache_is_watched(run_cell: Callable[..., Path]) -> None:
    """The kernel drops its flushes: the known sequence of the probes has none, and nobody waits for one."""
    run = run_cell(FS="f2fs", DEVICE="microsd-class10", MODE="wal")
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    counted = json.loads((run / "manifest.json").read_text())["window"]["counted"]
    assert {numbers["flushes"] for numbers in counted.values()} == {0}
