"""A lab board: one that is reached over SSH and has a clock and a partition of its own.

It is a virtual board that nobody told about: booted with the host's clock, with a partition that
is labelled as docs/lab-boards.md says, and named in an inventory file as a user's.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from analysis.__main__ import main as analyse
from commitpath import ansible, experiment
from commitpath.cell import make_cell
from commitpath.errors import LabError
from commitpath.payload import MOUNTPOINT
from commitpath.prepared import virtual_board
from images.ssh import Login

LAB = {"BOARD": "bench", "CLOCK": "real", "DEVICE": "own", "PROBES": "none", "ROWS": "10", "N": "5"}
PARTITION = """
modprobe loop
truncate -s 600M /run/disk
printf 'label: gpt\\nsize=16M, name=other\\nsize=512M, name=commitpath\\n' | sfdisk -q /run/disk
loop=$(losetup -fP --show /run/disk)
ln -s ${loop}p2 /run/by-label
cat /sys/class/block/${loop#/dev/}p2/size
"""


def said(login: Login, script: str) -> str:
    return subprocess.run(login.ssh(script), capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def bench() -> Iterator[Login]:
    """A board with the inventory's name `bench`."""
    inventory = ansible.PLAYBOOKS / "inventory/bench-test.local.yml"
    with virtual_board(make_cell({"ROWS": "0"})).started("real") as (login, _, _):
        entry = {
            "board_kind": "lab",
            "board_device": "/run/by-label",
            "board_device_bytes": int(said(login, PARTITION)) * 512,
            **login.ansible(),
        }
        inventory.write_text(yaml.safe_dump({"boards": {"hosts": {"bench": entry}}}))
        try:
            yield login
        finally:
            inventory.unlink()


def test_a_run_on_a_lab_board(bench: Login) -> None:
    folder = experiment.run_once(make_cell({**LAB, "FS": "f2fs", "MODE": "wal"}))
    assert analyse([str(folder)]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "ok", summary["reasons"]
    own = dict(line.split("=", 1) for line in (folder / "raw/board/device.txt").read_text().splitlines())
    assert int(own["start"]) > 0 and int(own["size"]) == 512 << 11
    # left as it was found
    assert said(bench, f"ls -d /run/commitpath {MOUNTPOINT}/db 2>/dev/null || echo nothing") == "nothing\n"


def test_teardown_leaves_what_the_run_did_not_mount(bench: Login, tmp_path: Path) -> None:
    said(bench, f"mkdir -p {MOUNTPOINT}; mkfs.ext4 -qF /run/by-label; mount /run/by-label {MOUNTPOINT}")
    variables = {"board": "bench", "mountpoint": MOUNTPOINT}
    ansible.play("teardown.yml", variables, tmp_path / "log")
    assert said(bench, f"grep -c ' {MOUNTPOINT} ' /proc/mounts") == "1\n"
    with pytest.raises(LabError, match=r"refused to format /run/by-label: .* is mounted"):
        ansible.play(
            "prepare.yml", {**variables, **ansible.board("bench"), "fs_type": "ext4"}, tmp_path / "log"
        )


def test_a_playbook_for_no_board_fails(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no board nobody"):
        ansible.play("teardown.yml", {"board": "nobody", "mountpoint": MOUNTPOINT}, tmp_path / "log")
