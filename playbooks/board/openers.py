"""Find other users of a block device through sysfs, loop devices, configfs and /proc.

Runs on a board: Python 3.9, standard library. Raises CannotSeeError for anything that cannot be inspected: it
may be a user.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import loops
from devices import CannotSeeError, Device

# <linux/proc_ns.h>: PROC_PID_INIT_INO
INITIAL_PID_NAMESPACE = 0xEFFFFFFC
# Files that name what the kernel has open without a claim: NVMe and SCSI targets, USB storage. A name may
# have blanks, and is the whole line except the kernel's words around it.
EXPORTS = {
    "/sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path": "(.+)",
    "/sys/kernel/config/target/core/*/*/udev_path": "(.+)",
    "/sys/kernel/config/target/core/*/*/info": r".*\bFile: (.+)  Size: [0-9]+  Mode: .*",
    "/sys/kernel/config/usb_gadget/*/functions/mass_storage.*/lun.*/file": "(.+)",
    "/sys/class/udc/*/device/gadget*/lun*/file": "(.+)",
}
# Seconds and attempts in which descriptors in transit to a process must arrive.
ARRIVAL, LOOKS = 0.5, 4


def users(device: Device) -> Iterator[str]:
    """Yield the users of a device, its whole disk, or the file that the disk is a loop device of."""
    for folder in {device.sysfs, device.disk}:
        held = sorted(path.name for path in (folder / "holders").iterdir())
        if held:
            yield f"{folder.name} is held by {', '.join(held)}"
    own = loops.image(device)
    yield from loops.users(device, own)
    names: dict[object, str] = {device.disk_number: device.disk.name, device.rdev: device.sysfs.name}
    if own:
        names[own.file] = f"the file of {own.name}"
    yield from exports(names)
    yield from writers(names)


def exports(names: dict[object, str]) -> Iterator[str]:
    """Yield what the kernel serves to others, by the paths in configfs."""
    for pattern, words in EXPORTS.items():
        for file in glob(pattern):
            for line in file.read_text(errors="surrogateescape").split("\n"):
                found = re.fullmatch(words, line)
                if not found or found[1] == "(null)":
                    continue
                try:
                    # a relative path belongs to an unknown folder
                    served = key(Path(found[1]).stat()) if found[1].startswith("/") else None
                except OSError as error:
                    raise CannotSeeError(f"{file} names {found[1]}: {error.strerror}") from error
                if served is None:
                    raise CannotSeeError(f"{file} names {found[1]}, which does not begin with /")
                if served in names:
                    yield f"{names[served]} is served by {file.parent}"


def writers(names: dict[object, str]) -> Iterator[str]:
    """Yield other processes that have one of them mapped or open for writing."""
    if Path("/proc/self/ns/pid").stat().st_ino != INITIAL_PID_NAMESPACE:
        raise CannotSeeError("processes outside of this PID namespace cannot be seen")
    for look in range(LOOKS):
        time.sleep(ARRIVAL if look else 0)
        found: list[str] = []
        in_flight: list[str] = []
        for process in glob("/proc/[0-9]*"):
            if process.name == str(os.getpid()):
                continue
            try:
                uses = opened(process, names)
                command = (process / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):  # it has ended
                continue
            except PermissionError as error:
                raise CannotSeeError(f"what process {process.name} has open cannot be seen") from error
            found += [f"process {process.name} ({command}) has {what}" for what in sorted(uses[0])]
            if uses[1]:
                in_flight.append(f"process {process.name} ({command})")
        if not in_flight:
            break
    yield from found
    if in_flight:
        raise CannotSeeError(
            f"open files are on their way in a unix socket of {', '.join(in_flight)}, unread"
        )


def opened(process: Path, names: dict[object, str]) -> tuple[set[str], bool]:
    """Return how a process uses them, and whether open files wait in its sockets (since Linux 5.6)."""
    found, in_flight = set(), False
    mapped = False
    # each thread, as their tables may differ; iterdir, as glob skips what it may not read
    for thread in (process / "task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            for link in (thread / "fd").iterdir():
                information = information_of(link)
                in_flight |= bool(re.search(r"^scm_fds:\s*[1-9]", information, re.M))
                if for_writing(information):
                    found |= {f"{names[it]} open for writing" for it in keys(link) if it in names}
            if not mapped:
                # if the first thread has ended, only the others show the process's memory
                maps = Path("/proc", thread.name, "maps").read_text(errors="replace").splitlines()
                mapped = bool(maps)
                for link in shared(Path("/proc", thread.name), maps):
                    found |= {f"{names[it]} mapped" for it in keys(link) if it in names}
    return found, in_flight


def shared(process: Path, maps: list[str]) -> Iterator[Path]:
    """Yield links to files with shared mappings: a read-only one may become writable."""
    for line in maps:
        match = re.match(r"([0-9a-f]+)-([0-9a-f]+) ...s ", line)
        if match:
            # not padded with zeros as in maps
            yield process / "map_files" / f"{int(match[1], 16):x}-{int(match[2], 16):x}"


def information_of(link: Path) -> str:
    """Return the kernel's information about an open file; empty if closed meanwhile."""
    try:
        return (link.parents[1] / "fdinfo" / link.name).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def for_writing(information: str) -> bool:
    """Return whether an open file may be for writing: unless its information shows otherwise."""
    if not information:
        return False  # closed meanwhile
    flags = re.search(r"^flags:\s*([0-7]+)", information, re.M)
    return flags is None or int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY


def keys(link: Path) -> Iterator[object]:
    """Yield the key of the target of a link in /proc, if it exists."""
    try:
        yield key(link.stat())
    except (FileNotFoundError, ProcessLookupError):
        return


def key(status: os.stat_result) -> object:
    """Return a block device's number, or another file's st_dev and st_ino."""
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else (status.st_dev, status.st_ino)


def glob(pattern: str) -> Iterator[Path]:
    """Yield existing paths of an absolute pattern."""
    return Path("/").glob(pattern.lstrip("/"))


def mounts(number: str, node: str) -> Iterator[str]:
    """Yield where a device is mounted, in any mount namespace, or used as swap; for messages only."""
    seen = set()
    for table in glob("/proc/[0-9]*/mountinfo"):
        try:
            lines = table.read_text(errors="replace").splitlines()
        except OSError:
            continue
        for fields in (line.split(" ") for line in lines):
            # a filesystem of several devices has a number of its own
            if (fields[2] == number or node in fields[6:]) and fields[4] not in seen:
                seen.add(fields[4])
                yield f"{node} is mounted on {fields[4]} (process {table.parent.name})"
    if any(line.split()[0] == node for line in Path("/proc/swaps").read_text().splitlines()):
        yield f"{node} is swap"
