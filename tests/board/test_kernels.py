"""Another kernel: it boots, and a cell runs on it, timed and with the device's own log, and watched."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize(("kernel", "begins"), [("6.1", "6.1"), ("7.x", "7")])
def test_a_cell_runs_on_another_kernel(run_cell: Callable[..., Path], kernel: str, begins: str) -> None:
    run = run_cell(FS="ext4", DEVICE="emmc-5.0", KERNEL=kernel, PROBES="none")
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["board"]["kernel"].startswith(f"Linux board {begins}.")
    asked = {setting["name"]: setting for setting in manifest["settings"] if setting["group"] == "board"}
    assert asked["kernel"]["effective"] == begins
    assert manifest["window"]["counted"]["device log"]["bytes_written"] > 0


# version: of blktrace's records, the first byte of each
@pytest.mark.parametrize(
    ("kernel", "fs", "by", "version"), [("6.1", "f2fs", "kprobe", 7), ("7.x", "ext4", "fentry", 8)]
)
def test_a_cell_is_watched_on_another_kernel(
    run_cell: Callable[..., Path], kernel: str, fs: str, by: str, version: int
) -> None:
    """No byte is without a label, all content is confirmed, and probes, blktrace and kernel agree."""
    run = run_cell(FS=fs, MODE="wal", KERNEL=kernel)
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    probes = json.loads((run / "raw/run.json").read_text())["probes"]
    assert probes["by"] == by and probes["attached"] == probes["expected"] > 0
    assert result["ledger"]["unattributed_share"] == 0 and result["content"]["confirmed_share"] == 1
    (trace,) = (run / "raw/blktrace").glob("*.blktrace.0")
    assert trace.read_bytes()[0] == version
    counted = json.loads((run / "manifest.json").read_text())["window"]["counted"]
    # the probes alone count those with FUA, of which a commit and a checkpoint have one
    assert counted["probe"].pop("fua") > 0
    assert counted["probe"] == counted["blktrace"] == counted["stat"]
