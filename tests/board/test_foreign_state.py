"""A board that is not ours: changes during a run reject it; board-check; repeated plays; power cycling."""

import json
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import foreign_board
import pytest
from foreign_board import ForeignBoard
from foreign_calls import FAILED, NOTHING, SMALL, STEP_SECONDS, behind, goes_on, left

from analysis.__main__ import main as analyse
from base.errors import LabError
from base.paths import ROOT
from commitpath.boards import board_check, payload
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from commitpath.run import experiment


@pytest.fixture(scope="module")
def bench() -> Iterator[ForeignBoard]:
    """A board for all of them."""
    with foreign_board.board("virtio") as board:
        yield board


# Right before the measured load, not the rehearsal's: the second time that the board is read.
SECOND = (
    "until [ -e /run/commitpath/run-cell.pid ]; do sleep 0.1; done; rm /run/commitpath/covariates.begin; "
    "until [ -e /run/commitpath/covariates.begin ]; do sleep 0.1; done"
)
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
BOOT_ID = "/proc/sys/kernel/random/boot_id"


def test_others_write_and_the_clock_changes(bench: ForeignBoard) -> None:
    """What a lab board notes of itself rejects a run, on a board, too."""
    write = "dd if=/dev/zero of=/root/other bs=64k count=4 conv=fsync"
    behind(
        bench,
        f"{SECOND}; echo other > /run/clock; mount --bind /run/clock {CLOCK}; while {write}; do :; done",
    )
    try:
        folder = experiment.run_once(make_cell({**SMALL, "BOARD": bench.name}))
    finally:
        bench.said(f"pkill -x dd; pkill -f '[w]hile dd'; umount {CLOCK}; rm -f /root/other")
    analyse([str(folder)])
    summary = json.loads((folder / "summary.json").read_text())
    reasons = "; ".join(summary["reasons"])
    assert summary["status"] == "rejected"
    for words in (
        "its clock source changed: clocksource changed from arch_sys_counter",
        "foreign_commands is",
        "foreign_sectors is",
    ):
        assert words in reasons, reasons
    assert left(bench) == NOTHING


def test_another_boot_id(bench: ForeignBoard) -> None:
    behind(bench, f"{SECOND}; echo other > /run/boot_id; mount --bind /run/boot_id {BOOT_ID}")
    try:
        with pytest.raises(LabError, match="was booted anew since it was taken: its run does not count"):
            experiment.run_once(make_cell({**SMALL, "BOARD": bench.name}))
    finally:
        bench.said(f"umount {BOOT_ID}")
    assert left(bench) == NOTHING


def test_what_a_board_can_do(bench: ForeignBoard) -> None:
    """make board-check: what would be done, what it is like, and a partition of another size."""
    make = ["make", "-s", "board-check", f"BOARD={bench.name}"]
    writes = "cat /sys/class/block/$(basename $(readlink /dev/disk/by-partlabel/commitpath))/stat"
    before = bench.said(writes).split()[4:7]
    done = subprocess.run([*make, "CHECK=1"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for words in (
        "would take the board for",
        "would write /run/commitpath/lease.sh (",
        "would make ext4 on /dev/",
    ):
        assert words in done.stdout, done.stdout
    assert left(bench) == NOTHING and bench.said(writes).split()[4:7] == before
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for words in (
        "runs can be made",
        "systemd",
        "the kernel has BTF",
        "filesystem ext4  ",
        "write 4 KiB and fsync",
    ):
        assert words in done.stdout, done.stdout
    assert left(bench) == NOTHING
    entry = bench.entry(board_device_bytes=4096)
    with foreign_board.named("of-another-size", entry):
        make = ["make", "-s", "board-check", "BOARD=of-another-size"]
        done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == FAILED and "the inventory says 4096" in " ".join(done.stdout.split())
    assert left(bench) == NOTHING


def changed(play: str, variables: dict[str, Any], home: Path, *options: str) -> int:
    """How many tasks of a play changed something."""
    output, errors, code = ansible.call(play, variables, options, STEP_SECONDS, str(home))
    assert code == 0, output + errors
    recap = re.search(r"changed=([0-9]+)", output)
    assert recap
    return int(recap[1])


def test_a_second_play_changes_nothing(bench: ForeignBoard, tmp_path: Path) -> None:
    cell = make_cell({**SMALL, "BOARD": bench.name})
    # a socket's name must be short
    with tempfile.TemporaryDirectory() as home:
        variables = board_check.playbook_variables(cell, ansible.board(bench.name))
        payload.write_self_extracting(tmp_path / "files", payload.board_files(variables))
        told, short = {**variables, "files": str(tmp_path / "files")}, Path(home)
        assert changed("provision.yml", told, short, "--check") == 2
        assert changed("provision.yml", told, short) == 3
        assert changed("provision.yml", told, short) == 0
        assert changed("provision.yml", told, short, "--check", "--diff") == 0
        assert changed("teardown.yml", told, short, "--check") == 1
        assert changed("teardown.yml", told, short) == 1
        assert changed("teardown.yml", told, short) == 0
    assert left(bench) == NOTHING


# What a hook of labgrid's would call; the power is the emulated machine's.
CLIENT = """#!/bin/sh
echo "$*" >> {said}
"""


def test_a_board_that_hangs_is_switched_off_and_on(
    bench: ForeignBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place of labgrid's: its kernel panics, and does not boot anew by itself."""
    said, client = tmp_path / "said", tmp_path / "bin/labgrid-client"
    said.touch()
    client.parent.mkdir()
    client.write_text(CLIENT.format(said=said))
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent), prepend=":")
    hooks = {"acquire": "acquire", "power_cycle": "power cycle", "release": "release"}
    entry = bench.entry(**{f"board_{hook}": f"labgrid-client -p rack {what}" for hook, what in hooks.items()})
    over = threading.Event()

    def switch() -> None:
        while not over.wait(0.5):
            if "power cycle" in said.read_text():
                bench.cut_power()
                return

    switched = threading.Thread(target=switch)
    with foreign_board.named("of-labgrid", entry):
        behind(bench, "sysctl -q kernel.panic=0; sleep 2; echo c > /proc/sysrq-trigger")
        time.sleep(5)
        switched.start()
        try:
            goes_on("of-labgrid")
        finally:
            over.set()
            switched.join()
    assert said.read_text().splitlines() == [f"-p rack {what}" for what in hooks.values()]
    assert left(bench) == NOTHING
