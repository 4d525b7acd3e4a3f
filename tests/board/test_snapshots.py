"""Preparing and saving a board: full disks, boards that do not answer, small devices, and a board at rest."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from base.errors import LabError
from commitpath.boards.prepared import make_provisioned, virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from images import artifacts, board, qemu, snapshot
from images.board import VirtualBoard
from images.cellrun import RunOutput

# A cell that no other test uses: its snapshot may be spoilt.
CELL = {"ROWS": "7", "N": "5", "FS": "ext4", "PROBES": "none"}
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs root to stage")


@pytest.fixture
def virtual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualBoard]:
    """The virtual board with a scratch folder of its own, in which nothing may stay."""
    scratch = tmp_path_factory.mktemp("vm")
    yield replace(virtual_board(make_cell(CELL)), scratch=scratch)
    assert not list(scratch.iterdir())


def test_snapshots_removed_meanwhile_are_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "removed").mkdir()
    listed = Path.iterdir

    def remove_first(folder: Path) -> Iterator[Path]:
        shutil.rmtree(folder)
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", remove_first)
    assert snapshot.stored(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 MiB, less than a board's memory takes while it boots."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40M", "tmpfs", tmp_path], check=True)
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@AS_ROOT
def test_disk_fills_while_a_board_boots(small_disk: Path, virtual: VirtualBoard) -> None:
    said = f"no disk space left in {small_disk} to save a snapshot: (the board ended|QEMU did not start)"
    with pytest.raises(LabError, match=said) as error:
        make_provisioned(small_disk / "snapshot", {}, virtual, {})
    assert len(str(error.value).splitlines()) == 1
    assert not list(small_disk.iterdir())


def save_idle(virtual: VirtualBoard, folder: Path) -> None:
    """Save a machine that never ran a guest: it has devices to save too."""
    with virtual.work_folder() as scratch:
        machine = virtual.machine(scratch, "provision", scratch / "ram", True, None)
        machine.write_cell(b"none\n")
        with qemu.running(machine, "-S") as process, qemu.Monitor(machine, process) as monitor:
            board.save_state(monitor, folder)


@AS_ROOT
def test_state_whose_end_has_no_room(
    small_disk: Path, tmp_path_factory: pytest.TempPathFactory, virtual: VirtualBoard
) -> None:
    roomy = tmp_path_factory.mktemp("roomy")
    save_idle(virtual, roomy)
    need = (roomy / "state").stat().st_size
    free = shutil.disk_usage(small_disk).free
    (small_disk / "ballast").write_bytes(b"x" * (free - need + 4096))
    # which of the two depends on who is quicker, QEMU or what writes for it
    how = "(failed|it completed, but not all was written)"
    said = f"no disk space left in {small_disk} to save: QEMU: migrate .*: {how}"
    with (
        pytest.raises(LabError, match=said),
        artifacts.whole(small_disk / "snapshot", "save") as part,
    ):
        save_idle(virtual, part)
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


def start_in_vain(virtual: VirtualBoard, clock: str) -> str:
    """What a start that must fail says."""
    with pytest.raises(LabError) as error, virtual.started(clock):
        pass
    return str(error.value)


def test_board_that_does_not_come_up(virtual: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(board.BOOT_LIMIT_SECONDS, "provision", 1)
    assert "waited 1 s in vain until the board is up" in start_in_vain(virtual, "provision")


def test_board_that_is_never_ready(
    virtual: VirtualBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was not provisioned: nothing on it can wait for a cell."""
    monkeypatch.setattr(board, "READY_LIMIT_SECONDS", 5)
    said = "did not say 'await-cell: ready' within 5 s"
    with (
        virtual.started("provision") as (login, machine, monitor),
        pytest.raises(LabError, match=said),
    ):
        virtual.save(login, machine, monitor, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(platform.machine() == "aarch64", reason="KVM may well work here")
def test_kvm_that_does_not_work(virtual: VirtualBoard) -> None:
    """On a host of another architecture QEMU itself refuses, at once."""
    said = start_in_vain(virtual, "kvm")
    assert said.startswith("CLOCK=kvm: the board does not boot under KVM here (")
    assert said.endswith("); use CLOCK=virtual or CLOCK=real")
    assert len(said.splitlines()) == 1


# as commitpath makes one
DISK = """
disk() {
  made=/sys/kernel/config/nullb/$1
  mkdir $made && echo $2 > $made/size && echo 1 > $made/memory_backed && echo 1 > $made/power &&
    cat /sys/class/block/$1/dev > made-device
}
"""

TOO_SMALL = (
    DISK
    + """
cd /run/commitpath
rm rehearsal.db
disk small 16
export BOARD_KIND=virtual DEVICE=/dev/small DEVICE_BYTES=0 MKFS_OPTIONS=[] MKFS_ALLOWED=[]
export MOUNT_OPTIONS= MOUNT_ALLOWED=[] MOUNTPOINT=/mnt/small REHEARSAL_CELL=
export FS_SIGNATURES='["ext4", "f2fs"]'
export POPULATE_OPTIONS='--rows 10000 --value-size 3072' REHEARSAL_OPTIONS='--rows 0 --value-size 3072'
for FS_TYPE in f2fs ext4; do
  export FS_TYPE
  sh prepare.sh 2>&1 || echo "$FS_TYPE: not prepared"
done
[ ! -e rehearsal.db ] && echo 'nothing was rehearsed'
"""
)


def test_device_too_small(on_board: Callable[..., RunOutput]) -> None:
    """For the filesystem, and for the rows: preparing ends there, with what the tool says."""
    prepare = (ansible.PLAYBOOKS / "board/prepare.sh").read_bytes()
    said = on_board(TOO_SMALL, {"prepare.sh": prepare}, FS="ext4").text("run-cell.log").splitlines()
    assert "\tError: Device size is not sufficient for F2FS volume" in said
    of_driver = [line for line in said if line.startswith("driver: ")]
    assert len(of_driver) == 1 and of_driver[0].endswith("SQLite error 13 (database or disk is full)"), said
    full = said.index(of_driver[0])
    assert said[full + 1 :] == ["ext4: not prepared", "nothing was rehearsed"]
    assert "f2fs: not prepared" in said


NOTHING_LEFT = """
(
. /run/commitpath/cell.env
written() { awk '{ print $7 }' /sys/class/block/$DEVICE_NAME/stat; }
before=$(written)
sync
echo $(($(written) - before)) sectors
)
"""

SLOW_POPULATE = (
    NOTHING_LEFT
    + DISK
    + """
cd /run/commitpath
rm rehearsal.db
export BOARD_KIND=virtual DEVICE_BYTES=0 MKFS_OPTIONS='["-q"]' MKFS_ALLOWED='["-q"]'
export MOUNT_OPTIONS= MOUNT_ALLOWED=[] MOUNTPOINT=/mnt/slow REHEARSAL_CELL=
export FS_SIGNATURES='["ext4", "f2fs", "xfs"]'
export POPULATE_OPTIONS='--rows 10 --value-size 3072' REHEARSAL_OPTIONS='--rows 0 --value-size 3072'
mv bin/driver bin/quick
printf '#!/bin/sh\nset -e\n/run/commitpath/bin/quick "$@"\ntouch /mnt/slow/dirty\nsleep 100\n' > bin/driver
chmod +x bin/driver
for FS_TYPE in ext4 f2fs; do
  name=slow-$FS_TYPE
  disk $name 128
  # an inventory may name a partition by a link
  export FS_TYPE DEVICE=/run/commitpath/by-label
  ln -sf /dev/$name $DEVICE
  sh prepare.sh
  cat /proc/fs/jbd2/$name-8/info /sys/fs/f2fs/$name/cp_background_calls 2> /dev/null | head -n 1
  cat /sys/fs/f2fs/$name/cp_interval 2> /dev/null || grep -o ' /mnt/slow .*' /proc/mounts
  umount /mnt/slow
  rm rehearsal.db
done
cat /proc/sys/vm/dirty_writeback_centisecs

# XFS's worker writes its log each 30 s from the mount on
export DEVICE=/dev/quiet FS_TYPE=xfs MOUNTPOINT=/mnt/quiet
printf '#!/bin/sh\\nset -e\\n' > bin/driver
cat >> bin/driver << 'END'
written() { awk '{ print $7 }' /sys/class/block/quiet/stat; }
/run/commitpath/bin/quick "$@"
touch /mnt/quiet/dirty
before=$(written)
sleep 100
echo $(($(written) - before)) sectors
END
chmod +x bin/driver
disk quiet 400
sh prepare.sh
umount /mnt/quiet
cat /proc/sys/fs/xfs/xfssyncd_centisecs
"""
)


def test_no_clock_writes_while_a_board_is_prepared(on_board: Callable[..., RunOutput]) -> None:
    """Else how long it takes says where the journal's head is, and what a run's writes cost on flash."""
    prepare = (ansible.PLAYBOOKS / "board/prepare.sh").read_bytes()
    said = on_board(SLOW_POPULATE, {"prepare.sh": prepare}, FS="ext4").text("run-cell.log").splitlines()
    left, ext4, ext4_mount, f2fs, cp_interval, centisecs, *xfs = said
    # of the cell's own ext4, as of the others' below
    assert left == "0 sectors"
    assert ext4.startswith("3 transactions (3 requested)")
    assert ext4_mount == " /mnt/slow ext4 rw,relatime 0 0"
    # what the clock asked for; afterwards all is as the kernels have it
    assert f2fs == "0"
    assert (cp_interval, centisecs) == ("60", "500")
    assert xfs == ["0 sectors", "0 sectors", "3000"]


@pytest.mark.parametrize("fs", ["f2fs", "xfs"])
def test_a_prepared_board_is_at_rest(fs: str, on_board: Callable[..., RunOutput]) -> None:
    """What preparing left to the clock would be written before the snapshot or in the run, by chance.

    And the page lists have one size: else the kernel sizes them by what ran before, and frees and
    takes pages by the batch on some.
    """
    script = NOTHING_LEFT + "cat /proc/sys/vm/percpu_pagelist_high_fraction /proc/zoneinfo"
    left, fraction, zones = on_board(script, {}, FS=fs).text("run-cell.log").split("\n", 2)
    assert left == "0 sectors"
    # that of the zone that pages come from; another's is set when pages of it are freed
    zone = zones[zones.index("zone   Normal") :]
    managed, high = re.findall(r"^ +(?:managed +|high: +)(\d+)$", zone, re.MULTILINE)[:2]
    assert int(high) == int(managed) // int(fraction)
