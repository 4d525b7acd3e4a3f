"""A lab board for tests: one that is reached over SSH and has a clock and a partition of its own.

It is a virtual board that nobody told about: booted with the host's clock, with a partition that
is labelled as docs/lab-boards.md says, and named in an inventory file as a user's.
"""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from commitpath import ansible
from commitpath.cell import make_cell
from commitpath.payload import PREPARE_SCRIPTS, filesystem_scripts
from commitpath.prepared import virtual_board
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


def send(login: Login, folder: str, *files: Path) -> None:
    """Put files into a folder of the board."""
    for file in files:
        command = f"mkdir -p {folder} && cat > {folder}/{file.name}"
        subprocess.run(login.ssh(command), input=file.read_bytes(), check=True)


@contextmanager
def board() -> Iterator[Login]:
    """A board with the inventory's name `bench`."""
    inventory = ansible.PLAYBOOKS / "inventory/bench-test.local.yml"
    with virtual_board(make_cell({"ROWS": "0"})).started("real") as (login, _, _):
        entry = {
            "board_device": "/run/by-label",
            "board_device_bytes": int(said(login, PARTITION)) * 512,
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
    for case, reason, was, sectors, words in (line.split("|") for line in lines):
        if case == "link swapped":
            # the other partition's sectors; what is mounted is what was proved
            assert reason == "0 sectors" and was.endswith("p1") and words.split("=")[0] == words.split("=")[1]
            continue
        why = reason.removeprefix("late: ")
        assert was == ("refused" if reason else "formatted"), (case, words)
        assert not reason or re.search(why, words), (case, reason, words)
        assert (int(sectors) > 0) == (not reason or why != reason), (case, sectors)
