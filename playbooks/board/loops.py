"""Loop devices: of a block device, and of the image that a disk is itself a loop device of.

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
    """A loop device: FIRST to END are the bytes of its file that it has.

    file: its file's st_dev and st_ino. number: of the block device that its file is, else 0.
    """

    def __init__(self, name: str, file: tuple[int, int], number: int, first: int, end: int) -> None:
        self.name, self.file, self.number, self.first, self.end = name, file, number, first, end


def attached() -> Iterator[Loop]:
    """The loop devices that there are."""
    for folder in sorted(path.parent for path in Path("/sys/block").glob("loop*/loop")):
        try:
            yield status(folder)
        except OSError as error:
            if error.errno == errno.ENXIO:  # it was detached since
                continue
            what = f"what {folder.name} is a loop device of cannot be read"
            raise CannotSeeError(f"{what}: {error.strerror}") from error


def status(folder: Path) -> Loop:
    """A loop device by its folder in sysfs."""
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
    """The part of an image that a device is, where its disk is a loop device."""
    for loop in attached():
        if loop.name == device.disk.name:
            start = 0 if device.disk == device.sysfs else int((device.sysfs / "start").read_text())
            first = loop.first + start * 512
            end = first + int((device.sysfs / "size").read_text()) * 512
            return Loop(loop.name, loop.file, loop.number, first, end)
    return None


def shares(one: Loop, other: Loop) -> bool:
    """Whether two loop devices have bytes of one file in common."""
    return one.file == other.file and one.first < other.end and other.first < one.end


def users(device: Device, own: Loop | None) -> Iterator[str]:
    """Loop devices of the device or its disk at whatever offset, and others of its part of an image."""
    if own and own.number:
        numbers = f"{os.major(own.number)}:{os.minor(own.number)}"
        yield f"{own.name} is a loop device of the block device {numbers}, whose users are not looked for"
    names = {device.rdev: device.sysfs.name, device.disk_number: device.disk.name}
    for loop in attached():
        if loop.number in names:
            yield f"{loop.name} is a loop device of {names[loop.number]}"
        elif own and loop.name != own.name and shares(loop, own):
            yield f"{loop.name} is a loop device of the same image as {own.name}, and of the same bytes"
