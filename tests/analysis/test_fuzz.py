"""Spoiled raw files: a clear rejection with file and offset, or a valid parse; no crash, no hang.

`pytest tests/analysis/test_fuzz.py --mutations 10000` tries that many of each file.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mutate import mutate

from analysis.observers import blktrace
from base.errors import BadInput

HERE = Path(__file__).parent
SECONDS = 5  # more than a thousand times what one takes


@contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_all(path: Path, data: bytes, read: Callable[[Path], object], number: int) -> Counter[str]:
    """Read `number` mutations of `data` from `path`; how often each outcome was met."""
    outcomes: Counter[str] = Counter()
    for seed in range(number):
        path.write_bytes(mutate(data, seed))
        try:
            with limit(SECONDS):
                read(path)
            outcomes["parsed"] += 1
        except BadInput as error:
            assert re.fullmatch(rf"{re.escape(str(path))}: byte \d+: [^\n]+; expected [^\n]+", str(error))
            outcomes["rejected"] += 1
        except Exception as error:
            raise AssertionError(f"mutation {seed}: {type(error).__name__}: {error}") from error
    return outcomes


def test_blktrace(tmp_path: Path, mutations: int) -> None:
    data = (HERE / "blktrace-ext4/nullb0.blktrace.0").read_bytes()
    path = tmp_path / "nullb0.blktrace.0"

    def read(path: Path) -> None:
        blktrace.count(path.parent, 0, 2**62)
        blktrace.read(path.parent)

    outcomes = try_all(path, data, read, mutations)
    assert outcomes["rejected"] > mutations / 4
    assert outcomes["parsed"] > mutations / 10  # a spoiled time or sector is still a record
