"""The flash model on the board: data, flushes, power cuts, and a run on it."""

import json
from collections.abc import Callable
from pathlib import Path

from images.cellrun import RunOutput

ROOT = Path(__file__).resolve().parents[2]

# The snapshot's own device goes first: the checks load and unload the module.
CHECKS = """
cd /run/commitpath
umount /mnt/target
echo 0 > /sys/kernel/config/flashsim/target/power
rmdir /sys/kernel/config/flashsim/target
rmmod flashsim
bash board-check.sh flashsim.ko power_cut.py
"""


def test_module_holds_on_the_board(on_board: Callable[..., RunOutput]) -> None:
    files = {name: (ROOT / "tests/flash" / name).read_bytes() for name in ("board-check.sh", "power_cut.py")}
    output = on_board(CHECKS, files, FS="ext4", DEVICE="emmc-5.0")
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")


def test_a_run_on_flash_holds(run_cell: Callable[..., Path]) -> None:
    """All profile settings were read back, and the device's causes of time add up."""
    run = run_cell(FS="ext4", DEVICE="emmc-5.0")
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    lines = (run / "raw/board/device_time.txt").read_text().splitlines()
    counters = {name: int(value) for name, value in (line.split("=") for line in lines)}
    causes = sum(v for k, v in counters.items() if k.startswith("time_") and k != "time_ns")
    assert causes == counters["time_ns"] > 0
    assert counters["write_bytes"] >= result["block"]["bytes_written"]
