"""Find loop devices that use a block device, or the same bytes of an image as its disk.

Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from devices import CannotSeeError, Device

# <linux/loop.h>; struct loop_info64 begins with lo_device, lo_inode, lo_rdevice, lo_offset
LOOP_GET_STATUS64 = 0x4C05
LOOP_INFO64_BYTES = 232


class Loop:
    """A loop device: bytes FIRST to END of its file.

    file: the file's st_dev and st_ino. number: the block device's number if its file is one, else 0.
    """

    def __init__(self, name: str, file: tuple[int, int], number: int, first: int, end: int) -> None:
        self.name, self.file, self.number, self.first, self.end = name, file, number, first, end


def attached() -> Iterator[Loop]:
    """Yield the attached loop devices."""
    for folder in sorted(path.parent for path in Path("/sys/block").glob("loop*/loop")):
        try:
            yield status(folder)
        except OSError as error:
            if error.errno == errno.ENXIO:  # detached meanwhile
                continue
            what = f"the file of the loop device {folder.name} cannot be read"
            raise CannotSeeError(f"{what}: {error.strerror}") from error


def status(folder: Path) -> Loop:
    """Return a loop device by its folder in sysfs."""
    node = Path("/dev") / folder.name
    loop = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        number = os.fstat(loop).st_rdev
        if (folder / "dev").read_text().strip() != f"{os.major(number)}:{os.minor(number)}":
            raise CannotSeeError(f"{node} is not the {folder.name} of sysfs")
        info = fcntl.ioctl(loop, LOOP_GET_STATUS64, bytes(LOOP_INFO64_BYTES))
    finally:
        os.close(loop)
    device, inode, rdevice, offset = struct.unpack_from("=4Q", info)
    length = int((folder / "size").read_text()) * 512
    return Loop(folder.name, (device, inode), rdevice, offset, offset + length)


def image(device: Device) -> Loop | None:
    """Return a device's part of an image, if its disk is a loop device."""
    for loop in attached():
        if loop.name == device.disk.name:
            start = 0 if device.disk == device.sysfs else int((device.sysfs / "start").read_text())
            first = loop.first + start * 512
            end = first + int((device.sysfs / "size").read_text()) * 512
            return Loop(loop.name, loop.file, loop.number, first, end)
    return None


def shares(one: Loop, other: Loop) -> bool:
    """Return whether two loop devices share bytes of one file."""
    return one.file == other.file and one.first < other.end and other.first < one.end


def users(device: Device, own: Loop | None) -> Iterator[str]:
    """Yield loop devices of the device or its disk at any offset, and others of its part of an image."""
    if own and own.number:
        numbers = f"{os.major(own.number)}:{os.minor(own.number)}"
        yield f"{own.name} is a loop device of the block device {numbers}; its users are not checked"
    names = {device.rdev: device.sysfs.name, device.disk_number: device.disk.name}
    for loop in attached():
        if loop.number in names:
            yield f"{loop.name} is a loop device of {names[loop.number]}"
        elif own and loop.name != own.name and shares(loop, own):
            yield f"{loop.name} is a loop device of the same image as {own.name}, and of the same bytes"
