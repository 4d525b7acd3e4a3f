"""Boot a lab board for tests, reached over SSH; check runs next to a busy neighbour, and what is formatted.

It is a virtual board that commitpath does not know to be one: booted with the host's clock, with a
partition that is labelled as docs/how-to/lab-boards.md says, and named in an inventory file as a user's.
"""

import io
import json
import re
import shlex
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from analysis.__main__ import main as analyse
from analysis.checks import counts, disk
from analysis.run import Run
from analysis.stages import build
from commitpath.boards.payload import PREPARE_SCRIPTS, filesystem_scripts
from commitpath.boards.prepared import virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from images.ssh import Login

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


# Limits that a neighbour is within.
BUSY = {"foreign_commands": 10, "foreign_sectors": 10, "others_pressure": 10}
# Somebody else writes and syncs: WHERE.
NEIGHBOUR = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(file, b"x" * 4096, 0)
    os.fsync(file)
    time.sleep(0.05)
"""


@contextmanager
def neighbour(login: Login, where: str) -> Iterator[None]:
    """Meanwhile somebody writes a page of a file on the board, and syncs it, again and again."""
    start = f"nohup python3 -c {shlex.quote(NEIGHBOUR)} {where} > /dev/null 2>&1 < /dev/null & echo $!"
    number = int(said(login, start))
    try:
        yield
        # it was at work to the end
        said(login, f"kill -0 {number}")
    finally:
        said(login, f"kill {number} && while kill -0 {number} 2> /dev/null; do sleep 0.1; done")


def hold_partition(folder: Path) -> Run:
    """A watched run of a partition beside another: it counts, all that count it have the same writes and
    sectors of it, and its times are the twin's."""
    assert analyse([str(folder)]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "ok", summary["reasons"]
    run = build(folder)
    told = counts.by_source(run)
    for name in ("writes", "bytes_written"):
        assert told["probe"][name] == told["blktrace"][name] == told["stat"][name], told
    assert run.partition and run.ledger
    assert run.ledger.ledger["sector"].max() < run.partition.sectors
    assert summary["timing_source"] == "twin"
    # not all one number: mawk, which is Debian's awk, prints no more than 2^31 - 1 as %d
    steps = json.loads((folder / "raw/run.json").read_text())["steps"]
    (driver,) = (step for step in steps if step["name"] == "driver")
    assert driver["begin_ns"] < run.driver.window[0] < run.driver.window[1] <= driver["end_ns"] + 10_000_000
    return run


def hold_neighbour(run: Run) -> None:
    """What somebody else wrote meanwhile is told apart."""
    found = disk.summary(run)
    assert found and found["foreign_bytes_written"] > 0, found


def send(login: Login, folder: str, *files: Path) -> None:
    """Put files into a folder of the board, by one login: each takes it seconds."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in files:
            archive.add(file, file.name)
    command = f"mkdir -p {folder} && tar -x --no-same-owner -C {folder}"
    subprocess.run(login.ssh(command), input=packed.getvalue(), check=True)


@contextmanager
def board() -> Iterator[Login]:
    """A board with the inventory's name `bench`."""
    inventory = ansible.PLAYBOOKS / "inventory/bench-test.local.yml"
    with virtual_board(make_cell({"ROWS": "0"})).started("real") as (login, _, _):
        entry = {
            "board_device": "/run/by-label",
            "board_device_bytes": int(said(login, PARTITION)) * 512,
            "board_limits": BUSY,
            **login.ansible(),
        }
        inventory.write_text(yaml.safe_dump({"boards": {"hosts": {"bench": entry}}}))
        try:
            yield login
        finally:
            inventory.unlink()


def hold_guard(login: Login, cases: str, number: int) -> None:
    """What guard.sh tries on a board: as many cases as there are, each refused for its reason."""
    here, board = Path(__file__).parent, ansible.PLAYBOOKS / "board"
    subprocess.run(login.ssh("losetup -D"), check=True)
    send(login, "/run", here / "guard.sh", here / cases)
    send(login, "/run/commitpath", *(board / name for name in PREPARE_SCRIPTS))
    send(login, "/run/commitpath/filesystems", *filesystem_scripts())
    *lines, end = said(login, f"sh /run/guard.sh /run/{cases}").splitlines()
    assert end == "all was tried", lines
    assert len(lines) == number, lines
    wrong = [line for line in lines if not as_meant(*line.split("|"))]
    assert not wrong, wrong


def as_meant(case: str, reason: str, was: str, sectors: str, words: str) -> bool:
    """Whether a case of guard.sh was refused for its reason and nothing written, or was formatted."""
    if case == "link swapped":
        # the other partition's sectors; what is mounted is what was proved
        mounted = words.split("=")
        return reason == "0 sectors" and was.endswith("p1") and mounted[0] == mounted[1]
    why = reason.removeprefix("late: ")
    if not reason:
        return was == "formatted" and int(sectors) > 0
    return was == "refused" and bool(re.search(why, words)) and (int(sectors) > 0) == (why != reason)
