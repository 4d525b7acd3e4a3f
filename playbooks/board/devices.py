"""Open a block device so that its number is not reused, find it in sysfs, and run programs on the open file.

A Device has its number, its kernel node, its folder in sysfs and its whole disk's. RefusedError and
CannotSeeError are the reasons why a device may not be formatted.

Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path


class RefusedError(Exception):
    """The reason why a device may not be formatted."""


class CannotSeeError(RefusedError):
    """A possible user of the device cannot be inspected, so it is not known to be unused."""


class Device:
    """A device held by an open file, which keeps its number from being reused."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        # its name for this program and for children that inherit the file; not /proc/self, which mkfs would
        # compare with /proc/mounts in its own process
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
        """Return a program's output about it; fine: accepted exit codes."""
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
    """Return the device that NAME refers to now."""
    try:
        place = os.open(name, os.O_PATH | os.O_CLOEXEC)
        # before opening: opening another kind of file may have side effects
        if not stat.S_ISBLK(os.fstat(place).st_mode):
            raise RefusedError("it is not a block device")
        fd = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise RefusedError(str(error.strerror)) from error
    device = Device(fd)
    opened = str(Path(device.path).readlink())
    if opened != device.node:
        raise RefusedError(f"{opened} has the number {device.number}, which is {device.node}'s")
    return device


def node_of(folder: Path) -> str:
    """Return a device's kernel node by its folder in sysfs."""
    return "/dev/" + folder.name.replace("!", "/")
