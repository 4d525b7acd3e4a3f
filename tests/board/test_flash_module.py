"""The flash model on the board's kernel: data, flushes, power cuts."""

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
bash board-check.sh flashsim.ko ./power_cut.py
"""


def test_module_holds_on_the_board(on_board: Callable[..., RunOutput]) -> None:
    files = {
        name: (ROOT / "tests/flash" / name).read_bytes()
        for name in ("board-check.sh", "power_cut.py", "history.py")
    }
    output = on_board(CHECKS, files, FS="ext4", DEVICE="emmc-5.0")
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")
