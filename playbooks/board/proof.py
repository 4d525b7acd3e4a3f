"""Verify that a block device is the inventory's or made by us and carries nothing foreign; claim it (O_EXCL).

Runs on a board: Python 3.9, standard library. A name is resolved once, to an open file, which then stands for
the device: by its number in sysfs, and as /proc/PID/fd/N for other programs.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import openers
from devices import Device, RefusedError, node_of, resolve
from tables import LABEL, alone, labelled, table

# "Linux filesystem data" of the GPT
LINUX_DATA = "0fc63daf-8483-4772-8e79-3d69d8477de4"
# Our filesystems' UUIDs begin with `commitpath` in ASCII; the rest is the partition's, so that a copy
# elsewhere is not ours.
MARK = "636f6d6d-6974-7061-7468"
MADE = Path(__file__).resolve().parent / "made-device"


@contextmanager
def claimed(device: Device) -> Iterator[int]:
    """Claim the device as a mount does (O_EXCL), open for writing."""
    try:
        fd = os.open(device.path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise RefusedError(f"it cannot be opened for writing: {error.strerror}") from error
        held = [*openers.mounts(device.number, device.node), *openers.users(device)]
        raise RefusedError("; ".join(held) or "the kernel has it in use (EBUSY)") from error
    try:
        yield fd
    finally:
        os.close(fd)


def identify(device: Device, kind: str, size: int) -> str:
    """Refuse a device that is not the board's for us; return the UUID that our filesystem has on it."""
    if any((folder / "ro").read_text().strip() != "0" for folder in (device.sysfs, device.disk)):
        raise RefusedError("it is read-only")
    if kind == "lab":
        return f"{MARK}-{partition(device, size)[-12:]}"
    # device.sh writes the number of its device
    made = MADE.read_text().strip() if MADE.exists() else ""
    if device.number != made:
        raise RefusedError("it is not a device that commitpath made")
    if list(device.sysfs.glob("*/partition")):
        raise RefusedError("it has partitions")
    return f"{MARK}-{0:012}"


def partition(device: Device, size: int) -> str:
    """Refuse a device that is not a partition labelled for us; return its UUID in the GPT.

    The kernel must have the partition as in the disk's table (tables.py).
    """
    if device.disk == device.sysfs:
        raise RefusedError("it is a whole disk, not a partition")
    disk = resolve(node_of(device.disk))
    if disk.sysfs != device.disk:
        raise RefusedError(f"{disk.node} is not its whole disk")
    entries = table(disk)
    start, sectors = (int((device.sysfs / name).read_text()) for name in ("start", "size"))
    number = (device.sysfs / "partition").read_text().strip()
    (entry,) = [entry for entry in entries if entry["NR"] == number] or [{}]
    there = (int(entry.get("START", 0)), int(entry.get("SECTORS", 0)))
    if there != (start, sectors):
        raise RefusedError(
            f"the disk's partition table differs from the kernel's: it has {there[1]} sectors from "
            f"{there[0]} on, the kernel {sectors} from {start} on; if the table is right and nobody uses the "
            f"partition: partx --update --nr {number} {disk.node}, else reboot the board"
        )
    if entry["NAME"] != LABEL:
        others = " and ".join(labelled())
        todo = (
            f"{others} has that label; if udev did not see it: udevadm trigger --settle"
            if others
            else f"if it may be lost: sfdisk --part-label {disk.node} {number} {LABEL}"
        )
        raise RefusedError(f"its GPT label is '{entry['NAME']}', not '{LABEL}'; {todo}")
    if twins := [node for node in labelled() if node != device.node]:
        others = ", ".join(twins)
        raise RefusedError(
            f"{others} has the GPT label '{LABEL}' too; a board has one partition: rename others"
        )
    if sectors * 512 != size:
        raise RefusedError(f"it has {sectors * 512} bytes, the inventory says {size}")
    if entry["SCHEME"] != "gpt" or entry["TYPE"] != LINUX_DATA:
        raise RefusedError(f"its type is {entry['TYPE']}, not 'Linux filesystem data' of a GPT")
    alone(device, entries, start, sectors)
    return entry["UUID"]


def ours(device: Device, mark: str, kinds: Collection[str]) -> bool:
    """Return whether our filesystem is on it, False if nothing is; refuse anything else.

    kinds: names that blkid may give it.
    """
    output = device.ask("wipefs", "--json", "--output", "TYPE,UUID")
    signatures = json.loads(output)["signatures"] if output.strip() else []
    for signature in signatures:
        if signature["type"] not in kinds or signature["uuid"] != mark:
            raise RefusedError(
                f"it carries {signature['type']} ({signature['uuid'] or 'no UUID'}), which commitpath did "
                f"not make there; if nobody needs it: wipefs -a {device.node}"
            )
    return bool(signatures)
