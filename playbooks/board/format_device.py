"""Make and mount a filesystem on the device that the inventory names: the one place that formats.

With CHECK in the environment it says what it would make, and makes nothing.

Runs on a board: Python 3.9, standard library; and little of that, as an emulated CPU takes seconds to
load it. What to do is in the environment, as prepare.sh has it. What it has proved (proof.py) stays
true until the mount: one open file of the device from first to last, which mkfs and mount get.

The kernel gives an exclusive claim to one open file, and mkfs and mount each need it themselves.
So the claim is let go of right before each of them, and taken again in between; whoever gets in
there makes mkfs or mount fail, or is found at the second look.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import members
import openers
import proof
import tables
from devices import Device, RefusedError, resolve

FOLDER = Path(__file__).resolve().parent
# A superblock is in here: a filesystem of ours is no more one without it. Most mkfs make nothing
# where they see something, unless they are forced.
SUPERBLOCK_BYTES = 65536


def checked(program: str, words: list[str], allowed: str) -> list[str]:
    """The options of a program, each with its value; all must be of the allowed patterns (JSON)."""
    for word in words:
        if not any(re.fullmatch(pattern, word) for pattern in json.loads(allowed)):
            raise RefusedError(f"{program} may not be given {word}")
    return words


def run(device: Device, *command: str) -> None:
    """A program that gets the device's open file; where it fails, its own words are the last."""
    # Ansible's terminal is no one to ask
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, pass_fds=[device.fd])
    if done.returncode:
        sys.exit(1)


def mounted_on(folder: Path) -> bool:
    """Whether something is mounted on a folder."""
    lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    return any(line.split(" ")[4] == str(folder) for line in lines)


def check_mountpoint(folder: Path) -> None:
    """Refuse where the filesystem could not be mounted, or would be elsewhere than it is looked for."""
    place = os.path.realpath(folder)
    if place != str(folder):
        raise RefusedError(f"its mount point {folder} leads to {place} through a symbolic link")
    if mounted_on(folder):
        raise RefusedError(f"something is mounted on {folder}")
    if os.path.lexists(folder) and not folder.is_dir():
        raise RefusedError(f"its mount point {folder} is no folder")
    if not folder.parent.is_dir():
        raise RefusedError(f"its mount point {folder} cannot be made: there is no {folder.parent}")


def make_mountpoint(folder: Path) -> None:
    """Make the mount point where it is not there; before mkfs, as its filesystem may be read-only."""
    if not folder.exists():
        try:
            folder.mkdir()
        except OSError as error:
            raise RefusedError(f"its mount point {folder} cannot be made: {error.strerror}") from error
        # for teardown.sh
        (FOLDER / "made-mountpoint").touch()


def mount(device: Device, kind: str, options: str, folder: Path) -> None:
    """Mount, and see that it is the device."""
    # not canonicalized: the name would be resolved to a node's, and that again
    command = ["mount", "--internal-only", "--no-canonicalize", "--types", kind]
    run(device, *command, *(["--options", options] if options else []), device.path, str(folder))
    if folder.stat().st_dev != device.rdev:
        subprocess.run(["umount", str(folder)], check=True)
        raise RefusedError(f"mount -o {options} mounted another device")


def unused(device: Device) -> None:
    """Refuse a device that somebody uses."""
    for user in openers.users(device):
        raise RefusedError(user)


def format_device(asked: Mapping[str, str]) -> None:
    """Prove, make, prove again, mount."""
    kind, mountpoint = asked["FS_TYPE"], Path(asked["MOUNTPOINT"])
    words = checked("mkfs", json.loads(asked["MKFS_OPTIONS"]), asked["MKFS_ALLOWED"])
    options = [option for option in asked["MOUNT_OPTIONS"].split(",") if option]
    checked("mount", options, asked["MOUNT_ALLOWED"])
    if not re.fullmatch("[0-9]+", asked["DEVICE_BYTES"]):
        raise RefusedError(f"its bytes in the inventory are {asked['DEVICE_BYTES']!r}, no whole number")
    check_mountpoint(mountpoint)
    tables.check_name(asked["DEVICE"])
    kinds = json.loads(asked["FS_SIGNATURES"])
    device = resolve(asked["DEVICE"])
    mark = proof.identify(device, asked["BOARD_KIND"], int(asked["DEVICE_BYTES"]))
    with proof.claimed(device) as claim:
        unused(device)
        again = proof.ours(device, mark, kinds)
        for owner in members.owners(device) if asked["BOARD_KIND"] == "lab" else ():
            raise RefusedError(owner)
        if asked.get("CHECK"):
            there = "the filesystem of ours that is there" if again else "nothing"
            made = " ".join([f"mkfs.{kind}", *words])
            print(f"would make {kind} on {device.node} in place of {there}: {made}")
            print(f"would mount it on {mountpoint} with {','.join(options) or 'no option'}")
            return
        make_mountpoint(mountpoint)
        # what a run and teardown.sh go by: the device that was proved
        environment = f"DEVICE_NUMBER={device.number}\nDEVICE_NAME={device.sysfs.name}\n"
        (FOLDER / "device.env").write_text(environment)
        if again:
            os.pwrite(claim, bytes(SUPERBLOCK_BYTES), 0)
            os.fsync(claim)
    run(device, "sh", str(FOLDER / "filesystem.sh"), kind, "make", mark, device.path, *words)
    with proof.claimed(device):
        unused(device)
        if not proof.ours(device, mark, kinds):
            raise RefusedError(f"mkfs.{kind} left no filesystem on it")
    mount(device, kind, ",".join(options), mountpoint)


def main() -> int:
    """Exit code: 1 with a line that says why."""
    try:
        format_device(os.environ)
    except RefusedError as error:
        print(f"format-device: refused to format {os.environ['DEVICE']}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
