"""A lab board: one that is reached over SSH and has a clock and a partition of its own.

It is a virtual board that nobody told about: booted with the host's clock, with a partition that
is labelled as docs/lab-boards.md says, and named in an inventory file as a user's.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from analysis.__main__ import main as analyse
from base.errors import LabError
from commitpath import ansible, experiment
from commitpath.cell import make_cell
from commitpath.payload import MOUNTPOINT, PREPARE_SCRIPTS, filesystem_scripts
from commitpath.prepared import virtual_board
from images import artifacts
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


def send(login: Login, folder: str, *files: Path) -> None:
    """Put files into a folder of the board."""
    for file in files:
        command = f"mkdir -p {folder} && cat > {folder}/{file.name}"
        subprocess.run(login.ssh(command), input=file.read_bytes(), check=True)


def test_teardown_leaves_what_the_run_did_not_make(bench: Login) -> None:
    scripts = ("teardown", "check-board", "changes")
    send(bench, "/run", *(ansible.PLAYBOOKS / "board" / f"{name}.sh" for name in scripts))
    assert said(bench, TEARDOWN).splitlines() == [
        "unmarked: commitpath/notes is there",
        "check-board: /run/commitpath is there, and commitpath did not make what is in it",
        "taken",
        "an empty folder is",
        "check-board: /run/commitpath is there, and no folder of commitpath's",
        "1",
        "another's mount: commitpath is gone",
        "teardown: something is mounted on /run/commitpath/bind: /run/commitpath is left as it is",
        "a mount below: theirs/notes is there",
        "0",
        "teardown: loop1 is still mounted, below something else on /mnt/target: "
        "/run/commitpath is left as it is",
        "another's mount over ours: /mnt/target/theirs is there",
        "check-board: bench-1 uses the board; if not any more: umount what is mounted of it, "
        "rm -r /run/commitpath",
        "another checkout's: commitpath is there",
        "its own: commitpath is gone",
        "0",
        "2",
        "a process with the number of an old one goes on",
        "taken",
        "check-board: /run/commitpath is there, and no folder of commitpath's",
        "ours: commitpath is gone",
        "not empty: /mnt/made/notes is there",
        "not marked: /mnt/made is there",
        "made: /mnt/made is gone",
    ]


def storage_tools() -> Path:
    """LVM, md, LUKS and btrfs for the board, of which its image has the kernel's part only."""
    script = Path(__file__).with_name("build-storage-tools.sh")
    folder = artifacts.CACHE / f"storage-tools-{artifacts.hash_of(files=[script])}"
    command = [str(script), str(folder)]
    what = "fetch LVM, md, LUKS and btrfs for the board"
    artifacts.ensure(folder, what, lambda: artifacts.run(command, "storage-tools"), mib=500)
    return folder / "tools.tar"


@pytest.mark.parametrize(("cases", "number"), [("guard-names.sh", 37), ("guard-users.sh", 24)])
def test_nobody_elses_partition_is_formatted(bench: Login, cases: str, number: int) -> None:
    here, board = Path(__file__).parent, ansible.PLAYBOOKS / "board"
    subprocess.run(
        bench.ssh("losetup -D; tar -x -C / --skip-old-files --warning=no-timestamp"),
        input=storage_tools().read_bytes(),
        check=True,
    )
    send(bench, "/run", here / "guard.sh", here / cases)
    send(bench, "/run/commitpath", *(board / name for name in PREPARE_SCRIPTS))
    send(bench, "/run/commitpath/filesystems", *filesystem_scripts())
    *lines, end = said(bench, f"sh /run/guard.sh /run/{cases}").splitlines()
    assert end == "all was tried", lines
    assert len(lines) == number, lines
    for case, reason, was, sectors, words in (line.split("|") for line in lines):
        if case == "link swapped":
            # the other partition's sectors; what is mounted is what was proved
            assert reason == "0 sectors" and was.endswith("p1") and words.split("=")[0] == words.split("=")[1]
            continue
        why = reason.removeprefix("late: ")
        assert was == ("refused" if reason else "formatted"), (case, words)
        assert not reason or re.search(why, words), (case, reason, words)
        assert (int(sectors) > 0) == (not reason or why != reason), (case, sectors)


def test_a_playbook_for_no_board_fails(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no board nobody"):
        ansible.play("teardown.yml", {"board": "nobody", "mountpoint": MOUNTPOINT}, tmp_path / "log")
