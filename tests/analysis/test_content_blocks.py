"""Blocks put together from commands that begin and end anywhere; CRC-32C; which of several verdicts wins."""

import numpy as np
import pytest

from analysis.content import blocks, findings
from analysis.content.crc import crc32c


def bitwise(text: bytes, crc: int) -> int:
    """CRC-32C a bit at a time."""
    for byte in text:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc


def test_crc32c_has_its_check_value() -> None:
    """RFC 3720, B.4, and the catalogue's check value; both invert at the end."""
    digits = np.frombuffer(b"123456789", np.uint8)[None]
    assert crc32c(digits, 0xFFFFFFFF)[0] ^ 0xFFFFFFFF == 0xE3069283
    assert crc32c(np.zeros((1, 32), np.uint8), 0xFFFFFFFF)[0] ^ 0xFFFFFFFF == 0x8A9136AA


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 300])
def test_crc32c_of_rows_is_that_of_each(size: int) -> None:
    rows = np.random.default_rng(size).integers(0, 256, (3, size), np.uint8)
    seeds = np.array([0, 7, 0xFFFFFFFF], np.uint32)
    assert crc32c(rows, seeds).tolist() == [
        bitwise(row.tobytes(), seed) for row, seed in zip(rows, seeds.tolist(), strict=True)
    ]


def log(*commands: tuple[int, int], kept: bool = True) -> blocks.Log:
    """Commands (sector, sectors); a sector is full of its number plus 100 * the command's, modulo 256."""
    sectors = [100 * one + sector + i for one, (sector, n) in enumerate(commands) for i in range(n)]
    data = np.repeat(np.array(sectors).astype(np.uint8), blocks.SECTOR)
    sector, size = np.array(commands).T
    begin = (np.cumsum(size) - size) * blocks.SECTOR if kept else np.full(size.size, -1)
    return blocks.Log(np.arange(len(commands)), sector, size, begin, data)


def held(made: blocks.Blocks) -> list[tuple[int, list[int]]]:
    pages = made.take(np.arange(made.number.size))[:, :: blocks.SECTOR]
    return list(zip(made.number.tolist(), pages.tolist(), strict=True))


def test_whole_blocks_are_found_within_a_command() -> None:
    made, places = blocks.blocks(log((8, 16)))
    assert held(made) == [(1, [*range(8, 16)]), (2, [*range(16, 24)])]
    assert places.find(np.array([0, 0]), np.array([2, 1])).tolist() == [1, 0]


def test_a_block_that_a_command_was_cut_in_is_put_together() -> None:
    """A command of 12 sectors and the next of 4; in between somebody wrote another block."""
    made, places = blocks.blocks(log((0, 12), (32, 8), (12, 4)))
    assert held(made) == [(0, [*range(8)]), (4, [*range(132, 140)]), (1, [8, 9, 10, 11, 212, 213, 214, 215])]
    assert made.record.tolist() == [0, 1, 2]
    # both parts belong to one writing
    assert places.find(np.array([0, 2]), np.array([1, 1])).tolist() == [2, 2]


def test_a_contradiction_counts_first_then_the_first_rule() -> None:
    said = [
        findings.confirmed("weak", np.array([0, 1, 2])),
        findings.confirmed("strong", np.array([1])),
        findings.contradicted("no", np.array([2])),
    ]
    found = findings.decide(4, said)
    assert [findings.STATES[state] for state in found.state] == [
        *("confirmed", "confirmed", "contradicted", "silent")
    ]
    assert [found.rules[rule] for rule in found.rule[:3]] == ["weak", "weak", "no"] and found.rule[3] == -1
