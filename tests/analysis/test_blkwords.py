"""Lines of blkparse's that are read at once are read as one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from analysis.adapters import blkbytes, blklines, blkwords
from analysis.adapters.blkevents import EVENT, Collected

LINES = (
    "253,0    0     1000     2.929048912   337  D WSM 2098416 + 32 [jbd2/target-8]",
    "  8,16   3        1     0.000000000     0  C   R 0 + 8 [0]",
    "253,0    0     1003 99999.931115440 4294967295  G FWFSM 9007199254740991 + 8 [kworker/0:0H-kb]",
    "8,0 1 7 12345678.000000001 697 Q FWS [a b] c]",
    "8,0 1 8 0.000000002 697 C WS 64 + 123456789 [65531]",
    "8,0 1 8 0.000000002 697 C FN 0 [0]",
    "8,0 1 9 0.000000003 697 U N [x] 1",
    "8,0 1 9 0.000000003 697 X WS 64 / 72 [x]",
    "9,1 1 9 0.000000003 697 A WS 64 + 8 <- (8,1) 0",
)
BYTES = b"0123456789 +/[](),.:-<>AWSXyz\t\xff"


def mutated(seed: int) -> list[bytes]:
    """Return lines of which some bytes are others."""
    choose = random.Random(seed)
    lines = []
    for _ in range(200):
        line = bytearray(choose.choice(LINES).encode())
        for _ in range(choose.choice([0, 0, 1, 1, 2])):
            at = choose.randrange(len(line))
            line[at : at + choose.randrange(2)] = choose.choices(BYTES, k=choose.choice([0, 1, 1, 9, 20]))
        lines.append(bytes(line))
    return lines


@pytest.mark.parametrize("seed", range(10))
def test_what_is_read_at_once_is_read_as_line_by_line(seed: int) -> None:
    lines, found = mutated(seed), Collected()
    blanks = b" " * blkbytes.PAD
    data = np.frombuffer(blanks + b"".join(line + b"\n" for line in lines) + blanks, np.uint8)
    _, numbers, rows = blkwords.Lines(found).rows(data, np.flatnonzero(data == ord("\n")))
    assert 40 < numbers.size < len(lines)
    expected = [blklines.parsed(lines[number].decode(errors="replace"), found.number) for number in numbers]
    assert rows.tolist() == np.array(expected, EVENT).tolist()
