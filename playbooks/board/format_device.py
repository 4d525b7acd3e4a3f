"""Verify that the inventory's device is ours and unused, make a filesystem on it, verify again and mount it.

No other file formats devices. With CHECK in the environment it prints what it would make, and makes nothing.

Runs on a board: Python 3.9, standard library, few modules, as an emulated CPU takes seconds to load them.
The request is in the environment (prepare.sh). What proof.py verifies stays true until the mount: mkfs and
mount get the same open file of the device.

The kernel grants an exclusive claim to one open file, and mkfs and mount each need it. So the claim is
released before each of them, and taken again in between; another user in that gap makes mkfs or mount fail,
or is found by the second check.
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
# Contains the superblock: without it the filesystem is no longer one of ours. Most mkfs programs refuse to
# overwrite anything that they recognise, unless forced.
SUPERBLOCK_BYTES = 131072


def checked(program: str, words: list[str], allowed: str) -> list[str]:
    """Return a program's options with their values; all must match the allowed patterns (JSON)."""
    for word in words:
        if not any(re.fullmatch(pattern, word) for pattern in json.loads(allowed)):
            raise RefusedError(f"{program} may not be given {word}")
    return words


def run(device: Device, *command: str) -> None:
    """Run a program with the device's open file; report its last message if it fails."""
    # no prompts on Ansible's terminal
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, pass_fds=[device.fd])
    if done.returncode:
        sys.exit(1)


def mounted_on(folder: Path) -> bool:
    """Return whether something is mounted on a folder."""
    lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    return any(line.split(" ")[4] == str(folder) for line in lines)


def check_mountpoint(folder: Path) -> None:
    """Refuse a mount point that is unusable or leads elsewhere."""
    place = os.path.realpath(folder)
    if place != str(folder):
        raise RefusedError(f"its mount point {folder} leads to {place} through a symbolic link")
    if mounted_on(folder):
        raise RefusedError(f"something is mounted on {folder}")
    if os.path.lexists(folder) and not folder.is_dir():
        raise RefusedError(f"its mount point {folder} is not a folder")
    if not folder.parent.is_dir():
        raise RefusedError(f"its mount point {folder} cannot be made: there is no {folder.parent}")


def make_mountpoint(folder: Path) -> None:
    """Make a missing mount point; before mkfs, as its filesystem may be read-only."""
    if not folder.exists():
        try:
            folder.mkdir()
        except OSError as error:
            raise RefusedError(f"its mount point {folder} cannot be made: {error.strerror}") from error
        # for teardown.sh
        (FOLDER / "made-mountpoint").touch()


def mounted_from(device: Device, kind: str, uuid: str, folder: Path) -> bool:
    """Return whether a folder is the root of the device's filesystem.

    One that may have several devices has a number of its own; the kernel lists its devices by its UUID.
    """
    if folder.stat().st_dev == device.rdev:
        return True
    members = [file.read_text().strip() for file in Path("/sys/fs", kind, uuid, "devices").glob("*/dev")]
    return os.path.ismount(folder) and members == [device.number]


def mount(device: Device, kind: str, uuid: str, options: str, folder: Path) -> None:
    """Mount, and check that it is the device."""
    # not canonicalized, which would resolve the name to a node, to be resolved again
    command = ["mount", "--internal-only", "--no-canonicalize", "--types", kind]
    run(device, *command, *(["--options", options] if options else []), device.path, str(folder))
    if not mounted_from(device, kind, uuid, folder):
        subprocess.run(["umount", str(folder)], check=True)
        raise RefusedError(f"mount -o {options} mounted another device")


def unused(device: Device) -> None:
    """Refuse a device that is in use."""
    for user in openers.users(device):
        raise RefusedError(user)


def format_device(asked: Mapping[str, str]) -> None:
    """Verify, make, verify again, mount."""
    kind, mountpoint = asked["FS_TYPE"], Path(asked["MOUNTPOINT"])
    words = checked("mkfs", json.loads(asked["MKFS_OPTIONS"]), asked["MKFS_ALLOWED"])
    options = [option for option in asked["MOUNT_OPTIONS"].split(",") if option]
    checked("mount", options, asked["MOUNT_ALLOWED"])
    if not re.fullmatch("[0-9]+", asked["DEVICE_BYTES"]):
        raise RefusedError(f"its bytes in the inventory are {asked['DEVICE_BYTES']!r}, not a whole number")
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
        # for a run and teardown.sh: the verified device
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
    mount(device, kind, mark, ",".join(options), mountpoint)


def main() -> int:
    """Return the exit code: 1 with a line that gives the reason."""
    try:
        format_device(os.environ)
    except RefusedError as error:
        print(f"format-device: refused to format {os.environ['DEVICE']}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
