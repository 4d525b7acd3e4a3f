"""Make the foreign board's disk: a GPT with its root, and a partition that is labelled for us.

usage: gpt.py FILE      prints where the root begins, in bytes, and how large it is, in MiB
"""

import struct
import sys
import uuid
import zlib
from pathlib import Path

SECTOR, MIB = 512, 2048
# QEMU takes an SD card of a power of two only
DISK_MIB = 2048
# name: (first MiB, MiB)
PARTITIONS = {"root": (1, 1343), "commitpath": (1344, 320)}
LINUX_DATA = uuid.UUID("0fc63daf-8483-4772-8e79-3d69d8477de4")
ENTRIES, ENTRY_BYTES = 128, 128


def entry(name: str, first: int, mib: int) -> bytes:
    """One partition's 128 bytes."""
    own = uuid.uuid5(LINUX_DATA, name)
    places = struct.pack("<QQQ", first * MIB, (first + mib) * MIB - 1, 0)
    return LINUX_DATA.bytes_le + own.bytes_le + places + name.encode("utf-16le").ljust(72, b"\0")


def header(own: int, other: int, table: int, entries: bytes) -> bytes:
    """The header at sector OWN, with that of the other copy and this copy's table."""
    last = DISK_MIB * MIB - 34
    fields = struct.pack("<IIIIQQQQ", 0x10000, 92, 0, 0, own, other, 34, last)
    disk = uuid.uuid5(LINUX_DATA, "disk").bytes_le
    of_table = struct.pack("<QIII", table, ENTRIES, ENTRY_BYTES, zlib.crc32(entries))
    data = b"EFI PART" + fields + disk + of_table
    return data[:16] + struct.pack("<I", zlib.crc32(data)) + data[20:]


def write(path: Path) -> None:
    """The file, sparse, with both copies of the table."""
    sectors = DISK_MIB * MIB
    entries = b"".join(entry(name, *place) for name, place in PARTITIONS.items())
    entries = entries.ljust(ENTRIES * ENTRY_BYTES, b"\0")
    # the protective MBR: one partition of type EE over all
    mbr = bytes(446) + struct.pack("<B3sB3sII", 0, b"\0\2\0", 0xEE, b"\xff" * 3, 1, sectors - 1)
    with path.open("wb") as file:
        file.truncate(sectors * SECTOR)
        for sector, data in (
            (0, mbr.ljust(510, b"\0") + b"\x55\xaa"),
            (1, header(1, sectors - 1, 2, entries)),
            (2, entries),
            (sectors - 33, entries),
            (sectors - 1, header(sectors - 1, 1, sectors - 33, entries)),
        ):
            file.seek(sector * SECTOR)
            file.write(data)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    print(PARTITIONS["root"][0] * MIB * SECTOR, PARTITIONS["root"][1])
