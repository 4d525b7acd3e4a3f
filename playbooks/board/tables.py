"""The partitions of a board's disks, as the tables on the disks have them.

The kernel keeps what it read once: while a disk is in use it reads no table again, it takes a label's
low bytes for ASCII, and a partition that it was told of (partx) has no label at all.

Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import re
from pathlib import Path

from devices import Device, RefusedError, node_of, resolve

# A partition says by this GPT label that somebody made it for us.
LABEL = "commitpath"


def table(disk: Device) -> list[dict[str, str]]:
    """The partitions of a disk as its own table has them; in sectors of 512 bytes."""
    said = disk.ask("partx", "--pairs", "--output", "NR,START,SECTORS,SCHEME,TYPE,UUID,NAME")
    return [dict(re.findall(r'([A-Z]+)="([^"]*)"', line)) for line in said.splitlines()]


def labelled() -> list[str]:
    """The partitions of the machine whose GPT label is ours, by the tables of all disks."""
    found = []
    for folder in sorted(Path("/sys/block").iterdir()):
        if (folder / "size").read_text().strip() == "0":
            continue
        numbers = {
            (path.parent / "partition").read_text().strip(): path.parent
            for path in folder.glob("*/partition")
        }
        try:
            names = {entry["NR"]: entry["NAME"] for entry in table(resolve(node_of(folder)))}
        except RefusedError:
            # it has none, or its partitions are of the kernel's command line
            names = {number: kernels_name(path) for number, path in numbers.items()}
        for number in (number for number, name in names.items() if name == LABEL):
            found.append(
                node_of(numbers[number]) if number in numbers else f"partition {number} of {node_of(folder)}"
            )
    return found


def kernels_name(folder: Path) -> str:
    """What the kernel calls a partition."""
    match = re.search(r"^PARTNAME=(.*)$", (folder / "uevent").read_text(errors="replace"), re.M)
    return match[1] if match else ""


def check_name(name: str) -> None:
    """Refuse a name that udev makes by a label and that is not there, with what to do."""
    if Path(name).parent != Path("/dev/disk/by-partlabel") or Path(name).exists():
        return
    nodes = labelled()
    if not nodes:
        todo = f"sfdisk --part-label /dev/DISK NUMBER {LABEL}"
        raise RefusedError(f"it is not there: no partition has the GPT label '{LABEL}': {todo}")
    todo = f"udevadm trigger --settle {nodes[0]}, or name {nodes[0]} in the inventory"
    raise RefusedError(f"it is not there, though {nodes[0]} has the label, which udev did not see: {todo}")


def alone(device: Device, entries: list[dict[str, str]], start: int, sectors: int) -> None:
    """Refuse a partition that shares a sector with another, as the kernel or the disk's table has them.

    The kernel takes a table whose partitions overlap, and a claim of one is none of the other.
    """
    there = [(int(entry["START"]), int(entry["SECTORS"])) for entry in entries]
    for folder in (path.parent for path in device.disk.glob("*/partition") if path.parent != device.sysfs):
        there.append((int((folder / "start").read_text()), int((folder / "size").read_text())))
    there.remove((start, sectors))  # its own entry
    for first, length in there:
        if first < start + sectors and start < first + length:
            raise RefusedError(f"it overlaps the partition of {length} sectors from {first} on")
    if start + sectors > int((device.disk / "size").read_text()):
        raise RefusedError("it ends behind the end of its disk")
