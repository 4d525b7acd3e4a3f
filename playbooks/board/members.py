"""Filesystems of other devices that have a device as a member, which carries no sign of it itself.

What a filesystem's first device says of its members is in filesystems/TYPE.py, where it has some without
a sign: members(its first bytes), the node ('' if it does not say) and the bytes of each.

Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import errno
import importlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from devices import CannotSeeError, Device, node_of

FILESYSTEMS = Path(__file__).resolve().parent / "filesystems"
HEAD_BYTES = 8192


def owners(device: Device) -> Iterator[str]:
    """Filesystems elsewhere on the board that have the device as a member, or may have."""
    sys.path.append(str(FILESYSTEMS))
    kinds = {path.stem: importlib.import_module(path.stem) for path in sorted(FILESYSTEMS.glob("*.py"))}
    size = int((device.sysfs / "size").read_text()) * 512
    for folder in sorted(Path("/sys/class/block").iterdir()):
        if folder.resolve() == device.sysfs or (folder / "size").read_text().strip() == "0":
            continue
        node, number = node_of(folder), (folder / "dev").read_text().strip()
        if mounted(number):
            continue  # it has claimed its members
        first = head(node, number)
        for kind, module in kinds.items():
            for name, length in module.members(first):
                if length <= size and (why := owned(device, name, length)):
                    yield f"{kind} on {node} has {why}"


def owned(device: Device, name: str, length: int) -> str:
    """How a device is, or may be, the member of that name; nothing if another is."""
    if not name:
        return f"a member of {length} bytes and does not say which: it may be this"
    try:
        status = Path(name).stat()
    except OSError:
        return f"the member {name}, a name that is not there: it may be this"
    ours = stat.S_ISBLK(status.st_mode) and status.st_rdev == device.rdev
    return f"it as its member {name}" if ours else ""


def head(node: str, number: str) -> bytes:
    """The first bytes of a device; none if it has no medium."""
    cannot = f"{node} cannot be read, which may have it as a member"
    try:
        file = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOMEDIUM, errno.ENXIO):
            return b""
        raise CannotSeeError(f"{cannot}: {error.strerror}") from error
    try:
        rdev = os.fstat(file).st_rdev
        if f"{os.major(rdev)}:{os.minor(rdev)}" != number:
            raise CannotSeeError(f"{node} is not the device {number}, which may have it as a member")
        return os.pread(file, HEAD_BYTES, 0)
    except OSError as error:
        raise CannotSeeError(f"{cannot}: {error.strerror}") from error
    finally:
        os.close(file)


def mounted(number: str) -> bool:
    """Whether a device is mounted, and so has its members claimed."""
    lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    return any(line.split(" ")[2] == number for line in lines)
