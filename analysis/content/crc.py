"""Compute CRC-32C (Castagnoli) of many rows of equal length at once.

Like the kernel's crc32c() (include/linux/crc32c.h): takes a seed, inverts nothing. The CRC is linear, so rows
are cut into segments that go through the table in parallel. The segments' remainders are then combined.
"""

import functools

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
_POLYNOMIAL = 0x82F63B78  # reflected
_SEGMENT = 64  # bytes
_AT_ONCE = 1 << 15  # segments: their remainders fit into a cache


@functools.cache
def _table() -> Words:
    """Return the remainders of all 16-bit words."""
    return _byte(_byte(np.arange(1 << 16, dtype=np.uint32)))


@functools.cache
def _zeros(size: int) -> Words:
    """Return (2, 65536): the low and the high half of a remainder, advanced by `size` bytes of zeros."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    for _ in range(size):
        bits = _byte(bits)
    result = np.zeros((2, 1 << 16), np.uint32)
    for half in range(2):
        for bit in range(16):
            span = 1 << bit
            result[half, span : 2 * span] = result[half, :span] ^ bits[16 * half + bit]
    return result


def _byte(crc: Words) -> Words:
    for _ in range(8):
        crc = np.where(crc & 1, (crc >> 1) ^ np.uint32(_POLYNOMIAL), crc >> 1)
    return crc


def crc32c(rows: np.ndarray, seed: int | Words) -> Words:
    """Return the CRC of each row of bytes (n, m), with one seed for all or one for each row."""
    count, size = rows.shape
    crc = np.full(count, seed, np.uint32) if isinstance(seed, int) else seed.astype(np.uint32)
    whole = size // _SEGMENT
    each = max(_AT_ONCE // max(whole, 1), 1)
    if whole:
        parts = [_whole(rows[at : at + each, : whole * _SEGMENT], whole) for at in range(0, count, each)]
        segments = np.concatenate(parts) if parts else np.empty((0, whole), np.uint32)
        low, high = _zeros(_SEGMENT)
        for column in range(whole):
            crc = low[crc & 0xFFFF] ^ high[crc >> 16] ^ segments[:, column]
    for byte in rows[:, whole * _SEGMENT :].T:
        crc = _byte(crc ^ byte)
    return crc


def _whole(rows: np.ndarray, segments: int) -> Words:
    """Return the remainders of the segments of rows, each starting at 0: (n, segments)."""
    words = np.ascontiguousarray(rows).view("<u2").reshape(-1, _SEGMENT // 2)
    columns, table = np.ascontiguousarray(words.T), _table()
    crc = np.zeros(words.shape[0], np.uint32)
    for column in columns:
        crc = table.take((crc ^ column) & 0xFFFF) ^ (crc >> 16)
    return crc.reshape(-1, segments)
