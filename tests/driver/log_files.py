"""Logs of LevelDB and RocksDB, written here: both have one format (LevelDB's doc/log_format.md)."""

import struct

import numpy as np

from analysis.content.crc import crc32c


def log_of(*keys: int, skip: int = 0, size: int = 1) -> bytes:
    """A log with a Put of each key, numbered by it, after so many blocks of zeros; size: of each value."""
    records, varint = b"", bytes([size] if size < 1 << 7 else [size & 127 | 128, size >> 7])
    for key in keys:
        batch = struct.pack("<QI", 1000 + key, 1) + b"\1\x08" + struct.pack(">Q", key) + varint + b"v" * size
        covered = np.frombuffer(b"\1" + batch, np.uint8)[None]
        crc = int(~crc32c(covered, 0xFFFFFFFF)[0])
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        records += struct.pack("<IHB", masked, len(batch), 1) + batch
    return bytes(32768 * skip) + records
