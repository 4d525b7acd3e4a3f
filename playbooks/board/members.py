"""Find filesystems on other devices that have this device as a further member, without a signature on it.

filesystems/TYPE.py reads the members of such a filesystem from its first device: members(its first bytes)
yields the node ('' if unknown) and size of each.
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
    """Yield filesystems on the board that have, or may have, the device as a member."""
    sys.path.append(str(FILESYSTEMS))
    kinds = {path.stem: importlib.import_module(path.stem) for path in sorted(FILESYSTEMS.glob("*.py"))}
    size = int((device.sysfs / "size").read_text()) * 512
    for folder in sorted(Path("/sys/class/block").iterdir()):
        if folder.resolve() == device.sysfs or (folder / "size").read_text().strip() == "0":
            continue
        node, number = node_of(folder), (folder / "dev").read_text().strip()
        if mounted(number):
            continue  # mounted, so it has claimed its members
        first = head(node, number)
        for kind, module in kinds.items():
            for name, length in module.members(first):
                if length <= size and (why := owned(device, name, length)):
                    yield f"{kind} on {node} has {why}"


def owned(device: Device, name: str, length: int) -> str:
    """Return how a device is, or may be, the member of that name; empty if another is."""
    if not name:
        return f"a member of {length} bytes and does not say which: it may be this"
    try:
        status = Path(name).stat()
    except OSError:
        return f"the member {name}, a name that is not there: it may be this"
    ours = stat.S_ISBLK(status.st_mode) and status.st_rdev == device.rdev
    return f"it as its member {name}" if ours else ""


def head(node: str, number: str) -> bytes:
    """Return the first bytes of a device; empty if it has no medium."""
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
    """Return whether a device is mounted, which claims its members."""
    lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    return any(line.split(" ")[2] == number for line in lines)
