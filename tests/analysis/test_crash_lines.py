"""Cuts of a run with a file in persistent memory: which are tried, and where they are on another board.

What a state is of (tests/driver/test_stored.py has its bytes) is in model/crash_points/pmem_lines.py.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_cell import some_cell

from analysis.adapters.device_logs import ENTRY
from analysis.crash import align
from analysis.crash.align import Numbers
from model.block_operations import FLUSH, WRITE
from model.cell import Cell
from model.crash_points import cuts, moments, pmem_lines, policies
from model.crash_points.cuts import Trial
from model.crash_points.durable import Cache, Commands
from model.crash_points.pmem_lines import Memory

GEOMETRY = {"cache_kib": 512, "cache_reorder": False, "block_bytes": 512, "program_bytes": 4096}
W, F = (WRITE, 8), (FLUSH, 0)
# one transaction: a record of three lines, cleaned
RECORD = [("copy", 1030, 150), ("clean", 1030, 150)]
NUMBERS = Numbers(0, 8, 10)


def cell(**values: Any) -> Cell:
    own = {"crash": "power", "cuts": 60, "cut_seed": 1, "profiles": {"device": {"geometry": GEOMETRY}}}
    return some_cell(**own | values)


def entries(shift: int = 0) -> np.ndarray:
    """Ten commands of 8 ns, 100 ns apart, from 400 ns on; the last two are the drain's."""
    kinds = [W, W, F] * 3 + [W]
    rows = [
        (begin, begin + 8, 100 * n, size, kind)
        for n, (kind, size) in enumerate(kinds)
        for begin in (400 + 100 * n + shift,)
    ]
    return np.array(rows, dtype=ENTRY)


def ran(shift: int = 0, calls: list[tuple[str, int, int]] | None = None) -> Any:
    """Six records, of 60 ns a call, from 110 ns on, the file's deletion, and calls of other files."""
    each = RECORD * 6 + [("delete", 0, 0)] if calls is None else calls
    rows = [
        (5 * n, op, "statements", 30 + 80 * n + shift, 90 + 80 * n + shift, 7, offset, size)
        for n, (op, offset, size) in enumerate(each, 1)
    ]
    other = [(1, "write", "wal", 100, 101, 8, 0, 64), (2, "copy", "pages", 102, 103, 9, 0, 64)]
    columns = ("call", "op", "file", "begin_ns", "end_ns", "inode", "offset", "bytes")
    vfs = pl.DataFrame([*other, *rows], schema=columns, orient="row")
    persistent = pl.DataFrame({"transaction": [0], "file": ["statements"], "lines": [3], "bytes": [150]})
    return SimpleNamespace(vfs=vfs, persistent=persistent, window=(0, 2000))


def planned(**values: Any) -> list[Trial]:
    return moments.plan(cell(**values), entries(), ran())


def test_moments_are_of_commands_and_of_calls() -> None:
    plan = planned()
    assert [one.number for one in plan] == list(range(60)) and plan == planned()
    assert [one.moment for one in plan] == sorted(one.moment for one in plan)
    assert (plan[0].call, plan[0].where, plan[0].arrived) == (5, "before", 0)
    assert plan[0].memory == pmem_lines.State(0, pmem_lines.EVERYTHING, 0)
    # the file's deletion is over before the last command is
    assert (plan[-1].call, plan[-1].command, plan[-1].where, plan[-1].lost) == (None, 9, "after", ())
    assert plan[-1].memory == pmem_lines.State(13, pmem_lines.GONE, 0)
    of_calls = [one for one in plan if one.call is not None]
    # a third, and of those between some
    assert 20 < len(of_calls) < 40 and {one.where for one in of_calls} == {*cuts.WHERE}
    tried = {one.memory.policy for one in plan if one.memory}
    assert tried == {*pmem_lines.CHOICES, pmem_lines.GONE, pmem_lines.THERE}
    assert len({one.line() for one in plan}) > 40


def test_what_device_and_memory_keep_are_apart() -> None:
    both = {(one.policy, one.memory.policy) for one in planned(cuts=400) if one.memory}
    assert {(policies.NOTHING, pmem_lines.EVERYTHING), (policies.EVERYTHING, pmem_lines.NOTHING)} <= both
    of_system = planned(crash="os", cuts=200)
    assert {one.policy for one in of_system} == {policies.EVERYTHING}
    # what was not cleaned is in the CPU's caches, which a reset need not write to the memory
    assert {one.memory.policy for one in of_system if one.memory} >= {*pmem_lines.CHOICES}


@pytest.mark.parametrize(
    ("moment", "calls", "losable"),
    [
        (109, 0, {}),  # before the first copy
        (110, 1, {16: 0xFF, 17: 0xFF, 18: 0x0F}),  # as it begins, any of it may be there
        (190, 1, {16: 0xFF, 17: 0xFF, 18: 0x0F}),  # while it is cleaned
        (250, 2, {}),
        (270, 3, {16: 0xFF, 17: 0xFF, 18: 0x0F}),
    ],
)
def test_what_is_not_cleaned_may_be_lost(moment: int, calls: int, losable: dict[int, int]) -> None:
    memory = pmem_lines.memory(ran())
    assert memory is not None and len(memory) == 13
    # the first 6 bytes of line 16 are not the record's: the word is
    assert memory.calls(moment) == calls and memory.losable(moment) == losable


def board(shift: int = 0) -> tuple[Commands, Memory]:
    memory = pmem_lines.memory(ran(shift))
    assert memory is not None
    return Commands(entries(), Cache.from_profile(cell().profiles["device"])), memory


def place(one: Trial, shift: int = 0) -> Trial | None:
    commands, memory = board(shift)
    return align.locate(commands, NUMBERS, cuts.choices(cell(), commands.cache), one, memory)


def test_a_board_that_did_the_run_has_each_trial_as_planned() -> None:
    for one in planned(cuts=300):
        assert place(one) == one


def shown(one: Trial) -> set[int]:
    """Which of the writes are there."""
    return {n for n in range(one.arrived) if n not in one.lost and board()[0].is_write[n]}


def test_on_a_board_whose_clock_is_apart_a_moment_is_as_many_of_both() -> None:
    """A call that is later than a command there, and was before it, is of another state; up to the drain such
    a trial is nowhere."""
    found = [(one, place(one, shift=15)) for one in planned(cuts=300)]
    there = [(one, other) for one, other in found if other is not None]
    assert 0 < len(found) - len(there) < len(found) // 4
    for one, other in there:
        assert other.memory is not None and one.memory is not None
        assert (shown(other), other.memory.calls) == (shown(one), one.memory.calls)
        assert board(15)[1].may_leave(other.moment, one.memory)
