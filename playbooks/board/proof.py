"""Prove that a block device may be formatted: it is the one that the inventory names, and nobody's.

Runs on a board: Python 3.9, standard library. A name is resolved once, to an open file; from
then on the device is that file's: its number in sysfs, and /proc/PID/fd/N for other programs.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import openers

# A partition says by this GPT label that somebody made it for us.
LABEL = "commitpath"
# "Linux filesystem data" of the GPT
LINUX_DATA = "0fc63daf-8483-4772-8e79-3d69d8477de4"
# A filesystem of ours begins its UUID with `commitpath` in ASCII; the rest is its partition's,
# so that a copy of it elsewhere is not ours.
MARK = "636f6d6d-6974-7061-7468"
MADE = Path(__file__).resolve().parent / "made-device"


class RefusedError(Exception):
    """Why a device may not be formatted."""


class Device:
    """A device by an open file of it, which keeps its number from becoming another's."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        # its name for this program and for one that has inherited the file
        # not /proc/self: a mkfs takes a name in /proc/mounts for its device, and that is another's there
        self.path = f"/proc/{os.getpid()}/fd/{fd}"
        self.rdev = os.fstat(fd).st_rdev
        self.number = f"{os.major(self.rdev)}:{os.minor(self.rdev)}"
        # its folder in sysfs, and its whole disk's
        self.sysfs = Path(f"/sys/dev/block/{self.number}").resolve(strict=True)
        self.disk = self.sysfs.parent if (self.sysfs / "partition").exists() else self.sysfs
        # the node that the kernel gives it
        self.node = "/dev/" + self.sysfs.name.replace("!", "/")

    def ask(self, *command: str, fine: tuple[int, ...] = (0,)) -> str:
        """What a program says of it; fine: exit codes."""
        done = subprocess.run(
            [*command, self.path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            pass_fds=[self.fd],
        )
        if done.returncode not in fine:
            raise RefusedError(f"{command[0]} cannot read it: {done.stderr.strip() or done.returncode}")
        return done.stdout


def resolve(name: str) -> Device:
    """The device that NAME is now."""
    try:
        place = os.open(name, os.O_PATH | os.O_CLOEXEC)
        # before it is opened: to open another kind of file may do something
        if not stat.S_ISBLK(os.fstat(place).st_mode):
            raise RefusedError("it is no block device")
        fd = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise RefusedError(str(error.strerror)) from error
    device = Device(fd)
    opened = str(Path(device.path).readlink())
    if opened != device.node:
        raise RefusedError(f"{opened} has the number {device.number}, which is {device.node}'s")
    return device


@contextmanager
def claimed(device: Device) -> Iterator[int]:
    """Hold the device as a mount does (O_EXCL), open for writing."""
    try:
        fd = os.open(device.path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise RefusedError(f"it cannot be opened for writing: {error.strerror}") from error
        held = [*openers.mounts(device.number, device.node), *users(device)]
        raise RefusedError("; ".join(held) or "the kernel has it in use (EBUSY)") from error
    try:
        yield fd
    finally:
        os.close(fd)


def users(device: Device) -> Iterator[str]:
    """What uses the device or its whole disk."""
    disk = device.disk
    major, minor = (int(part) for part in (disk / "dev").read_text().split(":"))
    try:
        yield from openers.users({os.makedev(major, minor): disk, device.rdev: device.sysfs})
    except openers.CannotSeeError as error:
        raise RefusedError(str(error)) from error


def identify(device: Device, kind: str, size: int) -> str:
    """Refuse what is not the board's device for us; the UUID that a filesystem of ours has on it."""
    if any((folder / "ro").read_text().strip() != "0" for folder in (device.sysfs, device.disk)):
        raise RefusedError("it is read-only")
    if kind == "lab":
        return f"{MARK}-{partition(device, size)[-12:]}"
    # device.sh leaves the number of what it made
    made = MADE.read_text().strip() if MADE.exists() else ""
    if device.number != made:
        raise RefusedError("it is not a device that commitpath made")
    if list(device.sysfs.glob("*/partition")):
        raise RefusedError("it has partitions")
    return f"{MARK}-{0:012}"


def partition(device: Device, size: int) -> str:
    """Refuse what is not the partition that somebody labelled for us; its UUID in the GPT."""
    if device.disk == device.sysfs:
        raise RefusedError("it is a whole disk, not a partition")
    label = labels().get(device.sysfs.name, "")
    if label != LABEL:
        raise RefusedError(f"its GPT label is '{label}', not '{LABEL}'")
    if twins := [name for name, label in labels().items() if label == LABEL and name != device.sysfs.name]:
        raise RefusedError(f"{', '.join(twins)} has the GPT label '{LABEL}' too")
    sectors = int((device.sysfs / "size").read_text())
    if sectors * 512 != size:
        raise RefusedError(f"it has {sectors * 512} bytes, the inventory says {size}")
    # 2: it says nothing of it
    said = device.ask("blkid", "-p", "-o", "export", fine=(0, 2))
    entry = dict(line.split("=", 1) for line in said.splitlines())
    start = (device.sysfs / "start").read_text().strip()
    if (entry.get("PART_ENTRY_OFFSET"), entry.get("PART_ENTRY_SIZE")) != (start, str(sectors)):
        raise RefusedError("the disk's partition table does not have it as the kernel has")
    if entry["PART_ENTRY_SCHEME"] != "gpt" or entry["PART_ENTRY_TYPE"] != LINUX_DATA:
        raise RefusedError(f"its type is {entry['PART_ENTRY_TYPE']}, not 'Linux filesystem data' of a GPT")
    alone(device, int(start), sectors)
    return entry["PART_ENTRY_UUID"]


def alone(device: Device, start: int, sectors: int) -> None:
    """Refuse a partition that shares a sector with another, as the kernel or the disk's table has them.

    The kernel takes a table whose partitions overlap, and a claim of one is none of the other.
    start, sectors: of 512 bytes.
    """
    disk = resolve("/dev/" + device.disk.name.replace("!", "/"))
    if disk.sysfs != device.disk:
        raise RefusedError(f"{disk.node} is not its whole disk")
    table = disk.ask("partx", "--raw", "--noheadings", "--output", "START,SECTORS").splitlines()
    there = [tuple(int(word) for word in line.split()) for line in table]
    for folder in (path.parent for path in device.disk.glob("*/partition") if path.parent != device.sysfs):
        there.append((int((folder / "start").read_text()), int((folder / "size").read_text())))
    if (start, sectors) in there:  # its own entry
        there.remove((start, sectors))
    for first, length in there:
        if first < start + sectors and start < first + length:
            raise RefusedError(f"it overlaps the partition of {length} sectors from {first} on")
    if start + sectors > int((device.disk / "size").read_text()):
        raise RefusedError("it ends behind the end of its disk")


def labels() -> dict[str, str]:
    """GPT labels of all partitions of the machine."""
    found = {}
    for file in Path("/sys/class/block").glob("*/uevent"):
        if match := re.search(r"^PARTNAME=(.*)$", file.read_text(errors="replace"), re.M):
            found[file.parent.name] = match[1]
    return found


def ours(device: Device, mark: str, kinds: Collection[str]) -> bool:
    """Whether a filesystem of ours is on it and nothing else; False if nothing is; else refused.

    kinds: what blkid may call one.
    """
    said = device.ask("wipefs", "--json", "--output", "TYPE,UUID")
    found = json.loads(said)["signatures"] if said.strip() else []
    for signature in found:
        if signature["type"] not in kinds or signature["uuid"] != mark:
            raise RefusedError(
                f"it carries {signature['type']} ({signature['uuid'] or 'no UUID'}), which commitpath did "
                f"not make there; if nobody needs it: wipefs -a {device.node}"
            )
    return bool(found)
