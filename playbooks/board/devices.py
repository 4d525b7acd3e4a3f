"""A block device by one open file of it, so that it stays the same device.

Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path


class RefusedError(Exception):
    """Why a device may not be formatted."""


class CannotSeeError(RefusedError):
    """Something that may use the device cannot be looked at: so it is not known to be unused."""


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
        major, minor = (int(part) for part in (self.disk / "dev").read_text().split(":"))
        self.disk_number = os.makedev(major, minor)
        # the node that the kernel gives it
        self.node = node_of(self.sysfs)

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


def node_of(folder: Path) -> str:
    """The node that the kernel gives a device, by its folder in sysfs."""
    return "/dev/" + folder.name.replace("!", "/")
