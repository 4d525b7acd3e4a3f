"""Measure the noise of a board's partition: 20 syncs and 20 writes to a file on it, and the board's state.

usage: noise.py FOLDER    on the filesystem made by format_device.py; prints a JSON object
`fsync_us`, `write_us`: µs of each; `begin`, `end`: values of covariates.py.
Runs on a board: Python 3.9, standard library.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import covariates

NUMBER, BLOCK = 20, 4096


def microseconds(file: int, sync: bool, content: memoryview) -> Iterator[float]:
    """Yield the times of NUMBER overwrites of a block; sync: with an fsync."""
    for number in range(NUMBER):
        begin = time.perf_counter_ns()
        os.pwrite(file, content, number * BLOCK)
        if sync:
            os.fsync(file)
        yield (time.perf_counter_ns() - begin) / 1000


def measure(folder: Path) -> dict[str, object]:
    """Measure both in a new file, written before so that no block is allocated."""
    board = covariates.of_device()
    # O_DIRECT needs page-aligned memory
    content = mmap.mmap(-1, BLOCK)
    content.write(b"\xa5" * BLOCK)
    path = folder / "noise"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    file = os.open(path, flags)
    os.pwrite(file, bytes(content) * NUMBER, 0)
    os.fsync(file)
    past_cache = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC)
    begin = covariates.edge(board, last=False)
    with memoryview(content) as block:
        found = {
            "fsync_us": list(microseconds(file, True, block)),
            "write_us": list(microseconds(past_cache, False, block)),
        }
    end = covariates.edge(board, last=True)
    return {**found, "begin": begin, "end": end, "board": covariates.itself(board)}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
