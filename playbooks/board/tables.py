"""Read the partition tables on a board's disks: find partitions with our label, and reject overlaps.

The kernel's copy may be outdated: it does not read the table again while a disk is in use, it reduces a label
to ASCII, and a partition added by partx has no label at all.

Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import re
from pathlib import Path

from devices import Device, RefusedError, node_of, resolve

# The GPT label that marks a partition as made for us.
LABEL = "commitpath"


def table(disk: Device) -> list[dict[str, str]]:
    """Return the partitions in a disk's own table, in sectors of 512 bytes."""
    pairs = disk.ask("partx", "--pairs", "--output", "NR,START,SECTORS,SCHEME,TYPE,UUID,NAME")
    return [dict(re.findall(r'([A-Z]+)="([^"]*)"', line)) for line in pairs.splitlines()]


def labelled() -> list[str]:
    """Return the machine's partitions with our GPT label, by the tables of all disks."""
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
            # no table, or partitions from the kernel's command line
            names = {number: kernels_name(path) for number, path in numbers.items()}
        for number in (number for number, name in names.items() if name == LABEL):
            found.append(
                node_of(numbers[number]) if number in numbers else f"partition {number} of {node_of(folder)}"
            )
    return found


def kernels_name(folder: Path) -> str:
    """Return the kernel's name of a partition."""
    match = re.search(r"^PARTNAME=(.*)$", (folder / "uevent").read_text(errors="replace"), re.M)
    return match[1] if match else ""


def check_name(name: str) -> None:
    """Refuse a missing name that udev makes from a label, with a remedy."""
    if Path(name).parent != Path("/dev/disk/by-partlabel") or Path(name).exists():
        return
    nodes = labelled()
    if not nodes:
        todo = f"sfdisk --part-label /dev/DISK NUMBER {LABEL}"
        raise RefusedError(f"it is not there: no partition has the GPT label '{LABEL}': {todo}")
    todo = f"udevadm trigger --settle {nodes[0]}, or name {nodes[0]} in the inventory"
    raise RefusedError(f"it is not there, though {nodes[0]} has the label, which udev did not see: {todo}")


def alone(device: Device, entries: list[dict[str, str]], start: int, sectors: int) -> None:
    """Refuse a partition that overlaps another, by the kernel or the disk's table.

    The kernel accepts overlapping partitions, and a claim of one does not claim the other.
    """
    there = [(int(entry["START"]), int(entry["SECTORS"])) for entry in entries]
    for folder in (path.parent for path in device.disk.glob("*/partition") if path.parent != device.sysfs):
        there.append((int((folder / "start").read_text()), int((folder / "size").read_text())))
    there.remove((start, sectors))  # its own entry
    for first, length in there:
        if first < start + sectors and start < first + length:
            raise RefusedError(f"it overlaps the partition of {length} sectors from {first} on")
    if start + sectors > int((device.disk / "size").read_text()):
        raise RefusedError("it ends after the end of its disk")
