"""Spoils a file's bytes as a bad disk, a lost tail or a broken writer would, by a seed."""

from __future__ import annotations

import random

EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1)


def mutate(data: bytes, seed: int) -> bytes:
    """Return `data` with one to three things wrong."""
    draw = random.Random(seed)
    spoiled = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        if spoiled:
            draw.choice(WAYS)(spoiled, draw)
    return bytes(spoiled)


def _truncate(data: bytearray, draw: random.Random) -> None:
    del data[draw.randrange(len(data)) :]


def _flip(data: bytearray, draw: random.Random) -> None:
    for _ in range(draw.randint(1, 8)):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _extreme(data: bytearray, draw: random.Random) -> None:
    """A field, of 2, 4 or 8 bytes, becomes one of EXTREMES."""
    size = draw.choice((2, 4, 8))
    at = draw.randrange(len(data)) // size * size
    value = draw.choice(EXTREMES) & (1 << 8 * size) - 1
    data[at : at + size] = value.to_bytes(size, "little")[: max(len(data) - at, 0)]


def _delete(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    del data[at : at + draw.choice((1, 4, 48, 64, 1000))]


def _repeat(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    part = data[at : at + draw.choice((1, 4, 48, 64, 1000))]
    data[at:at] = part


def _move(data: bytearray, draw: random.Random) -> None:
    """A record's worth goes elsewhere."""
    at = draw.randrange(len(data)) // 16 * 16
    part = data[at : at + draw.choice((48, 64))]
    del data[at : at + len(part)]
    to = draw.randrange(len(data) + 1) // 16 * 16
    data[to:to] = part


def _blank(data: bytearray, draw: random.Random) -> None:
    """A sector that was never written."""
    at = draw.randrange(len(data)) // 512 * 512
    size = len(data[at : at + 512])
    data[at : at + size] = bytes(size)


WAYS = (_truncate, _flip, _flip, _extreme, _extreme, _delete, _repeat, _move, _blank)
