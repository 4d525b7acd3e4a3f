"""Filesystems of other devices that have a device as a member, which carries no sign of it itself.

F2FS (mkfs.f2fs -c) lists its members' names on its first device; XFS (rtdev) has the size of its
realtime device alone.

Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from devices import CannotSeeError, Device, node_of

HEAD_BYTES = 8192
# struct f2fs_super_block: where it is on a device, and in it devs[8], each a path and 2 MiB segments
F2FS_AT, F2FS_MAGIC = 1024, 0xF2F52010
F2FS_DEVICES_AT, F2FS_DEVICES, F2FS_PATH_BYTES, F2FS_SEGMENT = 2201, 8, 64, 2 << 20
# struct xfs_dsb: sb_magicnum, sb_blocksize, sb_dblocks, sb_rblocks
XFS_HEAD, XFS_MAGIC = struct.Struct(">4sIQQ"), b"XFSB"


def owners(device: Device) -> Iterator[str]:
    """Filesystems elsewhere on the board that have the device as a member, or may have."""
    size = int((device.sysfs / "size").read_text()) * 512
    for folder in sorted(Path("/sys/class/block").iterdir()):
        if folder.resolve() == device.sysfs or (folder / "size").read_text().strip() == "0":
            continue
        node = node_of(folder)
        data = head(node, (folder / "dev").read_text().strip())
        for path, length in f2fs_members(data):
            if length > size:
                continue
            try:
                status = Path(path).stat()
            except OSError:
                yield f"F2FS on {node} has the member {path}, a name that is not there: it may be this"
                continue
            if stat.S_ISBLK(status.st_mode) and status.st_rdev == device.rdev:
                yield f"F2FS on {node} has it as its member {path}"
        length = xfs_realtime(data)
        if 0 < length <= size and not mounted((folder / "dev").read_text().strip()):
            yield f"XFS on {node} has a realtime device of {length} bytes, which may be this"


def head(node: str, number: str) -> bytes:
    """The first bytes of a device; none if it has no medium."""
    try:
        file = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOMEDIUM, errno.ENXIO):
            return b""
        raise CannotSeeError(
            f"{node} cannot be read, which may have it as a member: {error.strerror}"
        ) from error
    try:
        rdev = os.fstat(file).st_rdev
        if f"{os.major(rdev)}:{os.minor(rdev)}" != number:
            raise CannotSeeError(f"{node} is not the device {number}, which may have it as a member")
        return os.pread(file, HEAD_BYTES, 0)
    except OSError as error:
        raise CannotSeeError(
            f"{node} cannot be read, which may have it as a member: {error.strerror}"
        ) from error
    finally:
        os.close(file)


def f2fs_members(data: bytes) -> Iterator[tuple[str, int]]:
    """The path and the bytes of each further device of an F2FS of several."""
    if data[F2FS_AT : F2FS_AT + 4] != struct.pack("<I", F2FS_MAGIC):
        return
    for place in range(1, F2FS_DEVICES):
        at = F2FS_AT + F2FS_DEVICES_AT + place * (F2FS_PATH_BYTES + 4)
        path, segments = struct.unpack_from(f"<{F2FS_PATH_BYTES}sI", data, at)
        name = path.split(b"\0")[0]
        if name:
            yield os.fsdecode(name), segments * F2FS_SEGMENT


def xfs_realtime(data: bytes) -> int:
    """The bytes of the realtime device of an XFS; 0 if it has none."""
    if data[:4] != XFS_MAGIC:
        return 0
    _, block, _, blocks = XFS_HEAD.unpack_from(data)
    return int(block * blocks)


def mounted(number: str) -> bool:
    """Whether a device is mounted, and so has its members claimed."""
    lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    return any(line.split(" ")[2] == number for line in lines)
