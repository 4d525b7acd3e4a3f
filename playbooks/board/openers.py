"""Who else uses a block device: what sysfs, loop devices, configfs and /proc say of it.

Runs on a board: Python 3.9, standard library. Whatever cannot be looked at raises CannotSeeError:
what is not seen is not known to be unused.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# <linux/loop.h>; lo_rdevice is the third of the eight-byte fields that struct loop_info64 begins with
LOOP_GET_STATUS64 = 0x4C05
LOOP_INFO64_BYTES = 232
# <linux/proc_ns.h>: PROC_PID_INIT_INO
INITIAL_PID_NAMESPACE = 0xEFFFFFFC
# Files that name what the kernel itself has open without a claim: NVMe and SCSI targets, USB storage.
EXPORTS = (
    "/sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path",
    "/sys/kernel/config/target/core/*/*/udev_path",
    "/sys/kernel/config/target/core/*/*/info",
    "/sys/kernel/config/usb_gadget/*/functions/mass_storage.*/lun.*/file",
    "/sys/class/udc/*/device/gadget*/lun*/file",
)


class CannotSeeError(Exception):
    """Something that may use the device cannot be looked at."""


def users(devices: dict[int, Path]) -> Iterator[str]:
    """What uses one of some devices, by their numbers; devices: number → folder in sysfs."""
    for folder in devices.values():
        held = sorted(path.name for path in (folder / "holders").iterdir())
        if held:
            yield f"{folder.name} is held by {', '.join(held)}"
    yield from loops(devices)
    yield from exports(devices)
    yield from writers(devices)


def loops(devices: dict[int, Path]) -> Iterator[str]:
    """Loop devices of one of them, at whatever offset."""
    for folder in sorted(path.parent for path in glob("/sys/block/loop*/loop")):
        try:
            backing = devices.get(backing_device(folder))
        except OSError as error:
            if error.errno == errno.ENXIO:  # it was detached since
                continue
            what = f"what {folder.name} is a loop device of cannot be read"
            raise CannotSeeError(f"{what}: {error.strerror}") from error
        if backing:
            yield f"{folder.name} is a loop device of {backing.name}"


def backing_device(folder: Path) -> int:
    """The number of the block device behind a loop device, 0 if a file is."""
    node = Path("/dev") / folder.name
    loop = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        number = os.fstat(loop).st_rdev
        if (folder / "dev").read_text().strip() != f"{os.major(number)}:{os.minor(number)}":
            raise CannotSeeError(f"{node} is not the {folder.name} of sysfs")
        info = fcntl.ioctl(loop, LOOP_GET_STATUS64, bytes(LOOP_INFO64_BYTES))
    finally:
        os.close(loop)
    return int(struct.unpack_from("=3Q", info)[2])


def exports(devices: dict[int, Path]) -> Iterator[str]:
    """What the kernel serves to others, by the paths in configfs."""
    for file in (path for pattern in EXPORTS for path in glob(pattern)):
        for word in file.read_text(errors="replace").split():
            if not word.startswith("/"):
                continue
            try:
                served = devices.get(Path(word).stat().st_rdev)
            except OSError as error:
                raise CannotSeeError(f"{file} names {word}: {error.strerror}") from error
            if served:
                yield f"{served.name} is served by {file.parent}"


def writers(devices: dict[int, Path]) -> Iterator[str]:
    """Other processes that have one of them open for writing, or mapped so."""
    if Path("/proc/self/ns/pid").stat().st_ino != INITIAL_PID_NAMESPACE:
        raise CannotSeeError("processes outside of this PID namespace cannot be seen")
    for process in glob("/proc/[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        try:
            found = {number for file in written(process) for number in number_of(file)} & set(devices)
            command = (process / "comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
        except PermissionError as error:
            raise CannotSeeError(f"what process {process.name} has open cannot be seen") from error
        for number in sorted(found):
            yield f"process {process.name} ({command}) has {devices[number].name} open for writing"


def written(process: Path) -> Iterator[Path]:
    """Links to the files that a process writes to: of each thread, as their tables may differ."""
    for thread in (process / "task").iterdir():
        # iterdir, as glob passes over what it may not read
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            yield from (link for link in (thread / "fd").iterdir() if for_writing(link))
    for line in (process / "maps").read_text(errors="replace").splitlines():
        if re.match(r"\S+ .w.s ", line):
            yield process / "map_files" / line.split(" ", 1)[0]


def for_writing(link: Path) -> bool:
    """Whether an open file is for writing."""
    try:
        information = (link.parents[1] / "fdinfo" / link.name).read_text()
    except (FileNotFoundError, ProcessLookupError):  # closed since
        return False
    flags = re.search(r"^flags:\s*([0-7]+)", information, re.M)
    return flags is None or int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY


def number_of(link: Path) -> Iterator[int]:
    """The number of the block device behind a link of /proc, if it is one."""
    try:
        status = link.stat()
    except (FileNotFoundError, ProcessLookupError):
        return
    if stat.S_ISBLK(status.st_mode):
        yield status.st_rdev


def glob(pattern: str) -> Iterator[Path]:
    """Existing paths of an absolute pattern."""
    return Path("/").glob(pattern.lstrip("/"))


def mounts(number: str, node: str) -> Iterator[str]:
    """Where a device is mounted, in any mount namespace, or that it is swap; for a message only."""
    seen = set()
    for table in glob("/proc/[0-9]*/mountinfo"):
        try:
            lines = table.read_text(errors="replace").splitlines()
        except OSError:
            continue
        for fields in (line.split(" ") for line in lines):
            # a filesystem of several devices (btrfs) has a number of its own
            if (fields[2] == number or node in fields[6:]) and fields[4] not in seen:
                seen.add(fields[4])
                yield f"{node} is mounted on {fields[4]} (process {table.parent.name})"
    if any(line.split()[0] == node for line in Path("/proc/swaps").read_text().splitlines()):
        yield f"{node} is swap"
