"""One watched cell on a board that is not ours: Debian 12 with systemd, the root and our partition on one
disk."""

import json
import subprocess

import foreign_board
import lab_board

from commitpath.boards.payload import MOUNTPOINT
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment

CELL = {"CLOCK": "real", "DEVICE": "own", "FS": "ext4-ordered", "MODE": "wal"}
LEFT = f"grep -c {MOUNTPOINT} /proc/mounts; ls -d /run/commitpath; systemctl is-active commitpath-lease"


def test_a_cell_on_debian_12() -> None:
    with foreign_board.board("virtio") as board:
        assert "+deb12" in board.said("dpkg-query -W openssh-server systemd")
        folder = experiment.run_once(make_cell({**CELL, "ROWS": "100", "N": "60", "BOARD": board.name}))
        left = subprocess.run(board.login.ssh(LEFT), capture_output=True, text=True, check=False)
        assert left.stdout.split() == ["0", "inactive"]
    lab_board.hold_partition(folder)
    beside = json.loads((folder / "manifest.json").read_text())["board"]["covariates"]
    # others' commands are of the root's filesystem, on the same disk
    assert beside["own_commands"] > beside["foreign_commands"] >= 0
    assert beside["board"]["kernel_config"].startswith("/boot/config-6.1")
    assert (folder / "raw/board/kernel-config.gz").is_file()
