"""Runs, watched commands, `make profile` on a lab board over SSH; teardown; what is not formatted.

The board is a virtual one that commitpath does not know to be one: booted with the host's clock, with a
partition that is labelled as docs/how-to/lab-boards.md says, and named in an inventory file as a user's.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lab_board
import pytest

from analysis.__main__ import main as analyse
from base.errors import LabError
from commitpath.boards.payload import MOUNTPOINT
from commitpath.cells.from_variables import make_cell
from commitpath.fitting import measurement
from commitpath.fitting.experiment_lists import MIB, Row
from commitpath.host import ansible
from commitpath.run import device_measurement, experiment
from commitpath.run.watch import command_cell
from images.ssh import Login

LAB = {"BOARD": "bench", "CLOCK": "real", "DEVICE": "own", "PROBES": "none", "ROWS": "10", "N": "5"}


@pytest.fixture(scope="module")
def bench() -> Iterator[Login]:
    """A board with the inventory's name `bench`."""
    with lab_board.board() as login:
        yield login


def hold_left(bench: Login) -> None:
    """Nothing of a run is left on the board."""
    left = lab_board.said(bench, f"ls -d /run/commitpath {MOUNTPOINT}/db 2>/dev/null || echo nothing")
    assert left == "nothing\n"


def test_a_run_on_a_lab_board(bench: Login) -> None:
    folder = experiment.run_once(make_cell({**LAB, "FS": "f2fs", "MODE": "wal"}))
    assert analyse([str(folder)]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "ok", summary["reasons"]
    hold_left(bench)


def run_command(bench: Login, folder: Path, probes: str) -> dict[str, Any]:
    """The summary of a command that writes 256 KiB, which is a good run and leaves nothing."""
    program = folder / "write.sh"
    program.write_text("dd if=/dev/zero of=file bs=64k count=4 conv=fsync 2> /dev/null\necho written\n")
    given = {name: LAB[name] for name in ("BOARD", "CLOCK", "DEVICE")}
    cell = command_cell({**given, "PROBES": probes, "CMD": "sh write.sh", "FILES": str(program)})
    stored = experiment.run_once(cell)
    assert analyse([str(stored)]) == 0
    summary: dict[str, Any] = json.loads((stored / "summary.json").read_text())
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    assert summary["command"]["stdout"] == "written"
    assert summary["counters"]["bytes_written"] >= 256 << 10
    assert summary["counters"]["flushes"] is None
    hold_left(bench)
    return summary


def test_a_command_on_a_lab_board(bench: Login, tmp_path: Path) -> None:
    summary = run_command(bench, tmp_path, "none")
    assert summary["transactions"]["count"] is None and summary["labels"] is None


def test_a_command_is_watched_on_a_lab_board(bench: Login, tmp_path: Path) -> None:
    assert sum(run_command(bench, tmp_path, "all")["labels"].values()) >= 256 << 10


def test_a_device_is_measured(bench: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `make profile`, with few of its commands: the partition is a small one."""
    rows = [Row("", op, 4096 * n, 4096 * (op != "F")) for n in range(20) for op in "wFr"]
    monkeypatch.setattr(device_measurement, "SPAN", 512 * MIB)
    for module in (device_measurement, measurement):
        monkeypatch.setattr(module, "planned", lambda _: (["some"] * len(rows), rows))
    made = device_measurement.measure("bench", "", ansible.board("bench"), 0)
    assert made.facts.size_bytes == 512 * MIB
    assert made.latency_ns.size == len(rows) and made.latency_ns.min() > 0
    hold_left(bench)


def test_a_partition_is_watched_beside_another_that_is_in_use(bench: Login) -> None:
    lab_board.said(bench, "mkfs.ext4 -qF /dev/loop?p1 && mkdir /run/other && mount /dev/loop?p1 /run/other")
    try:
        with lab_board.neighbour(bench, "/run/other/file"):
            cell = make_cell({**LAB, "PROBES": "all", "MODE": "wal", "N": "20", "ROWS": "100"})
            folder = experiment.run_once(cell)
    finally:
        lab_board.said(bench, "umount /run/other && rmdir /run/other")
    lab_board.hold_neighbour(lab_board.hold_partition(folder))
    own = dict(line.split("=", 1) for line in (folder / "raw/board/device.txt").read_text().splitlines())
    assert int(own["start"]) > 0 and int(own["size"]) == 512 << 11
    hold_left(bench)


def test_a_setting_of_the_kernel_that_changes_after_the_boot_is_noticed(bench: Login) -> None:
    """By check-cmdline.sh: as it was booted all is well; then not what was changed."""
    check = (ansible.PLAYBOOKS / "board/check-cmdline.sh").read_text()
    name = "percpu_pagelist_high_fraction"
    booted = lab_board.said(bench, f"cat /proc/sys/vm/{name}").strip()
    answers = []
    for value in ("8", booted):
        done = subprocess.run(bench.ssh("sh -s"), input=check, capture_output=True, text=True, check=False)
        answers.append((done.returncode, done.stderr.splitlines()))
        lab_board.said(bench, f"echo {value} > /proc/sys/vm/{name}")
    before, (code, lines) = answers
    assert before == (0, [])
    assert code == 1
    assert [line for line in lines if f"{name}={booted}" in line] == lines and lines


# Nothing of commitpath is on the board. Each line is a fact that the test looks for.
TEARDOWN = """
umount -q /mnt/target
losetup -D
cd /run
truncate -s 64M disk
mkfs.ext4 -qF disk
loop=$(losetup -f --show disk)
ours() { mkdir -p commitpath && touch commitpath/made-by-commitpath; }
there() { [ -e $1 ] && echo "$2: $1 is there" || echo "$2: $1 is gone"; }

mkdir commitpath
touch commitpath/notes
sh teardown.sh /mnt/target
there commitpath/notes unmarked
sh check-board.sh 2>&1
rm commitpath/notes
sh check-board.sh 2>&1 && echo 'an empty folder is'
rm -r commitpath
mkdir theirs
touch theirs/notes
ln -s theirs commitpath
sh check-board.sh 2>&1
rm commitpath

ours
printf 'DEVICE_NUMBER=0:0\nDEVICE_NAME=none\n' > commitpath/device.env
mount $loop /mnt/target
sh teardown.sh /mnt/target
grep -c ' /mnt/target ' /proc/mounts
there commitpath "another's mount"

ours
printf "DEVICE_NUMBER=$(cat /sys/class/block/${loop#/dev/}/dev)\nDEVICE_NAME=loop1\n" > commitpath/device.env
mkdir commitpath/bind
mount --bind theirs commitpath/bind
sh teardown.sh /mnt/target 2>&1
there theirs/notes 'a mount below'
grep -c ' /mnt/target ' /proc/mounts
umount commitpath/bind
mount $loop /mnt/target
mount -t tmpfs over /mnt/target
touch /mnt/target/theirs
sh teardown.sh /mnt/target 2>&1
there /mnt/target/theirs "another's mount over ours"
umount /mnt/target
sleep 1000 &
echo "$! 1" > commitpath/recorder.pid
cp changes.sh commitpath
echo 'value /proc/sys/vm/dirty_writeback_centisecs 2' > commitpath/changes
printf bench-1 > commitpath/made-by-commitpath
sh check-board.sh bench-2 2>&1
sh teardown.sh /mnt/target bench-2
there commitpath "another checkout's"
sh teardown.sh /mnt/target bench-1
there commitpath "its own"
grep -c ' /mnt/target ' /proc/mounts
cat /proc/sys/vm/dirty_writeback_centisecs
kill $! && echo 'a process with the number of an old one goes on'
echo 500 > /proc/sys/vm/dirty_writeback_centisecs
sh check-board.sh bench-2
sh check-board.sh bench-2
rm -r commitpath

ours
mount -t tmpfs tmpfs commitpath
sh check-board.sh 2>&1
umount commitpath
sh teardown.sh /mnt/target
there commitpath ours

ours
mkdir /mnt/made
touch commitpath/made-mountpoint /mnt/made/notes
sh teardown.sh /mnt/made
there /mnt/made/notes 'not empty'
rm /mnt/made/notes
sh teardown.sh /mnt/made
there /mnt/made 'not marked'
ours
touch commitpath/made-mountpoint
sh teardown.sh /mnt/made
there /mnt/made made
"""


def test_teardown_leaves_what_the_run_did_not_make(bench: Login) -> None:
    scripts = ("teardown", "check-board", "changes")
    lab_board.send(bench, "/run", *(ansible.PLAYBOOKS / "board" / f"{name}.sh" for name in scripts))
    said = lab_board.said(bench, TEARDOWN).splitlines()
    assert [line for line in said if line != "torn down"] == [
        "unmarked: commitpath/notes is there",
        "check-board: /run/commitpath exists, with files that commitpath did not make",
        "taken",
        "an empty folder is",
        "check-board: /run/commitpath exists, and is not commitpath's folder",
        "1",
        "another's mount: commitpath is gone",
        "teardown: something is mounted on /run/commitpath/bind: /run/commitpath is not removed",
        "a mount below: theirs/notes is there",
        "0",
        "teardown: loop1 is still mounted, below another mount on /mnt/target: "
        "/run/commitpath is not removed",
        "another's mount over ours: /mnt/target/theirs is there",
        "check-board: bench-1 uses the board; if it no longer does: unmount its mounts, "
        "rm -r /run/commitpath",
        "another checkout's: commitpath is there",
        "its own: commitpath is gone",
        "0",
        "2",
        "a process with the number of an old one goes on",
        "taken",
        "check-board: /run/commitpath exists, and is not commitpath's folder",
        "ours: commitpath is gone",
        "not empty: /mnt/made/notes is there",
        "not marked: /mnt/made is there",
        "made: /mnt/made is gone",
    ]


def test_no_partition_of_another_name_is_formatted(bench: Login) -> None:
    lab_board.hold_guard(bench, "guard-names.sh", 3)


def test_tables_and_options_that_would_format_another_are_refused(bench: Login) -> None:
    lab_board.hold_guard(bench, "guard-tables.sh", 44)


def test_a_playbook_for_no_board_fails(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no board nobody"):
        ansible.play("teardown.yml", {"board": "nobody", "mountpoint": MOUNTPOINT}, tmp_path / "log")
