"""What a power cut leaves of a file in persistent memory (workloads/stored.c, trials/pmem_lines.c).

Under ASan and UBSan: by the words of a plan (model/crash_points/pmem_lines.py), against a cache
that is played store by store.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import of_parts, one_line_error

from model.crash_points import pmem_lines
from model.crash_points.pmem_lines import GONE, NOTHING, THERE, TORN, Memory
from model.workloads import Random

SIZE = 1000  # no whole number of lines, nor of words
Call = tuple[str, int, int, int]  # op, offset, size, seed


@pytest.fixture(scope="module")
def program() -> Path:
    return of_parts("stored", "stored.c", "trials/pmem_lines.c", "fail.c", "grow.c", "output.c")


@pytest.fixture
def script(program: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run lines, in which @ is the file and = what is saved."""

    def run(text: str) -> subprocess.CompletedProcess[str]:
        text = text.replace("@", str(tmp_path / "log")).replace("=", str(tmp_path / "written"))
        return subprocess.run([program], input=text, capture_output=True, text=True, check=False)

    return run


def history(seed: int) -> list[Call]:
    """Copies that overlap, some of them cleaned later than at once or in parts; at the end it is deleted."""
    draw, found = random.Random(seed), list[Call]()
    for number in range(30):
        offset = draw.randrange(SIZE - 1)
        size = draw.randrange(1, min(200, SIZE - offset) + 1)
        found.append(("copy", offset, size, 7 * number + 1))
        if draw.random() < 0.7:
            found.append(("clean", offset, size if draw.random() < 0.8 else 1, 0))
    return [*found, ("delete", 0, 0, 0)]


def script_of(calls: list[Call], before: int = 0) -> str:
    """As the driver reports it; the first calls are from before the run."""
    words = {
        "copy": "copy {1} {2} {3}\n".format,
        "clean": "clean {1} {2}\n".format,
        "delete": "delete other\ndelete @\n".format,
    }
    each = [words[call[0]](*call) for call in calls]
    return (
        f"open @ {SIZE}\n" + "".join(each[:before]) + "begin\n" + "".join(each[before:]) + "save =-stored\n"
    )


def memory(calls: list[Call]) -> Memory:
    """The same as vfs.csv has it: 10 ns a call, 8 of them within it."""
    rows = [(3 * n, op, 10 * n, 10 * n + 8, *of) for n, (op, *of) in enumerate((c[:3] for c in calls), 1)]
    columns = ("call", "op", "begin_ns", "end_ns", "offset", "bytes")
    return Memory(pl.DataFrame(rows, schema=columns, orient="row"))


def cache(calls: list[Call]) -> tuple[bytearray, bytearray]:
    """(as the CPU has the file, as the memory has it where no line goes there by itself), byte by byte."""
    now, cleaned = bytearray(SIZE), bytearray(SIZE)
    for op, offset, size, seed in calls:
        if op == "copy":
            now[offset : offset + size] = bytes((seed + i) % 256 for i in range(size))
        for at in range(SIZE) if op == "clean" else ():
            if offset // 64 <= at // 64 <= (offset + size - 1) // 64:
                cleaned[at] = now[at]
    return now, cleaned


@pytest.mark.parametrize("seed", range(2))
def test_a_state_is_what_a_cache_may_leave(
    script: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, seed: int
) -> None:
    """Each word of 8 bytes is as it is or as it was cleaned; one that the plan loses is the latter."""
    calls, draw = history(seed), random.Random(seed)
    known, differed = memory(calls), 0
    for number in draw.sample(range(1, len(calls)), 8):
        # within the call, or behind it
        moment = 10 * number + draw.choice([4, 8])
        done = calls[: number - (calls[number - 1][0] == "clean" and moment % 10 == 4)]
        now, cleaned = cache(done)
        for policy in known.choices(moment):
            state = known.state(moment, policy, Random(seed, number))
            assert known.may_leave(moment, state) and state.calls == len(done)
            found = script(script_of(calls) + f"prepare =\nshow{state.words()}\n")
            assert found.returncode == 0, found.stderr
            there, lost = (tmp_path / "log").read_bytes(), dict(state.lost)
            assert len(there) == SIZE
            for at in range(SIZE):
                is_lost = lost.get(at // 64, 0) >> at % 64 // 8 & 1
                assert there[at] == (cleaned if is_lost else now)[at], (at, policy)
            differed += there != bytes(now)
            if policy == NOTHING:
                # nothing else may be lost: all that differs is
                assert there == bytes(cleaned)
    assert differed > 8


def test_a_file_that_was_deleted_is_gone_or_there(
    script: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    calls = [*history(2)[:-1], ("clean", 0, SIZE, 0), ("delete", 0, 0, 0)]
    known, moment = memory(calls), 10 * len(calls) + 4
    assert known.choices(moment) == (GONE, THERE)
    for policy in (THERE, GONE, THERE):
        state = known.state(moment, policy, Random(1, 1))
        assert script(script_of(calls) + f"prepare =\nshow{state.words()}\n").returncode == 0
        assert (tmp_path / "log").exists() == (policy == THERE)
    assert (tmp_path / "log").read_bytes() == bytes(cache(calls)[0])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("calls:99", "'calls:99', and the run has 4 such calls"),
        ("calls:1 lost:16:ff", "'lost:16:ff' is not a word of persistent memory"),
        ("calls:1 there", "`there`, but the run had not deleted"),
        ("lost:1:ff", "its plan lacks persistent memory, and the run had some"),
    ],
)
def test_a_plan_of_another_run_is_one_line(
    script: Callable[..., subprocess.CompletedProcess[str]], words: str, expected: str
) -> None:
    calls: list[Call] = [("copy", 0, 9, 1), ("clean", 0, 9, 0), ("copy", 8, 9, 1), ("delete", 0, 0, 0)]
    found = script(script_of(calls) + f"prepare =\nshow {words}\n")
    assert expected in one_line_error(found, 1)


def test_what_a_copy_stored_may_be_lost_in_words() -> None:
    known = memory([("copy", 60, 200, 1)])
    assert known.losable(18) == {0: 0x80, 1: 0xFF, 2: 0xFF, 3: 0xFF, 4: 0x01}
    for policy, least in (
        (pmem_lines.EVERYTHING, 1),
        (NOTHING, 1),
        (pmem_lines.PREFIX, 4),
        (pmem_lines.SUBSET, 10),
        (TORN, 20),
    ):
        states = [known.state(18, policy, Random(1, n)) for n in range(20)]
        assert len({one.lost for one in states}) >= least
        assert all(mask & ~known.losable(18)[line] == 0 for one in states for line, mask in one.lost)
    # a prefix is kept
    assert known.state(18, pmem_lines.PREFIX, Random(1, 3)).lost[-1] == (4, 0x01)
