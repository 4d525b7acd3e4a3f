"""Acknowledgements that no FLUSH stands behind are cut at, whatever the seed."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_cell import some_cell

from analysis.adapters.device_logs import ENTRY
from model.block_operations import FLUSH, FUA, WRITE
from model.cell import Cell
from model.crash_points import moments, unsynced
from model.crash_points.durable import Cache, Commands

COUNT, EVERY = 600, 100
SKIPPED = list(range(EVERY - 1, COUNT, EVERY))


def cell(**values: Any) -> Cell:
    geometry = {"cache_kib": 512, "cache_reorder": 1, "block_bytes": 512, "program_bytes": 4096}
    profiles = {"device": {"geometry": geometry | values.pop("geometry", {})}, "fs": {"mount": []}}
    chosen = {
        "journal_mode": "wal",
        "synchronous": "full",
        "crash": "power",
        "cuts": 50,
        "profiles": profiles,
    }
    return some_cell(**{**chosen, **values})


def transactions(skipped: list[int], barrier: str) -> tuple[np.ndarray, Any]:
    """A log and what a driver ran: each transaction writes and is made durable, but the skipped ones, which
    leave what they write to the next."""
    rows, times, left = list[tuple[int, ...]](), [], 0
    for number in range(COUNT):
        begin = 1000 + 100 * number
        if number in skipped:
            left += 1
        else:
            writes = [(begin + 10 + n, begin + 20 + n, 8 * number, 8, WRITE) for n in range(1 + left)]
            last = {
                "flush": (begin + 40, begin + 60, 0, 0, FLUSH),
                "fua": (begin + 40, begin + 60, 9000, 8, WRITE | FUA),
                "none": (begin + 40, begin + 60, 9000, 8, WRITE),
            }[barrier]
            rows, left = [*rows, *writes, last], 0
        times.append((begin, begin + 70, 1))
    table = pl.DataFrame(times, schema=["begin_ns", "end_ns", "changes"], orient="row")
    table = table.with_columns(op=pl.lit("insert"))
    ran = SimpleNamespace(commits=table, window=(0, 100 * COUNT + 2000), vfs=None, persistent=None)
    return np.array(rows, dtype=ENTRY), ran


def suspected(skipped: list[int], barrier: str = "flush", **values: Any) -> list[int]:
    entries, ran = transactions(skipped, barrier)
    made = cell(**values)
    found = unsynced.crash_points(made, Commands(entries, Cache.from_profile(made.profiles["device"])), ran)
    assert found.fewer == []
    return found.none


@pytest.mark.parametrize("barrier", ["flush", "fua"])
def test_each_is_found(barrier: str) -> None:
    entries, _ = transactions(SKIPPED, barrier)
    # the last of all has no command behind it
    found = entries["begin_ns"][suspected(SKIPPED, barrier)].tolist()
    assert found == [1000 + 100 * (number + 1) + 10 for number in SKIPPED[:-1]]
    assert suspected([], barrier) == []


@pytest.mark.parametrize(
    "values", [{"synchronous": "normal"}, {"mount_options": "nobarrier"}, {"journal_mode": "memory"}], ids=str
)
def test_what_promises_nothing_of_each_has_none(values: dict[str, Any]) -> None:
    assert suspected(SKIPPED, **values) == []


def test_where_the_device_keeps_its_cache_a_write_is_enough() -> None:
    """With barriers off no FLUSH comes at all, and a crash of the system takes nothing of the device."""
    for mounted in ("", "nobarrier"):
        assert suspected([], "none", crash="os", mount_options=mounted) == []
        assert len(suspected(SKIPPED, "none", crash="os", mount_options=mounted)) == len(SKIPPED) - 1


@pytest.mark.parametrize("count", [len(SKIPPED) + 1, 200])
def test_each_is_cut_at_whatever_the_seed(count: int) -> None:
    """With the least that the device may keep, behind the acknowledgement and before anything else comes."""
    entries, ran = transactions(SKIPPED, "flush")
    ends = ran.commits["end_ns"].to_numpy()
    for seed in range(6):
        plan = moments.plan(cell(cuts=count, cut_seed=seed), entries, ran)
        assert [one.number for one in plan] == list(range(count))
        for number in SKIPPED[:-1]:
            wanted = [
                one
                for one in plan
                if ends[number] <= one.moment < 1000 + 100 * (number + 1) + 10
                and len(one.lost) == one.losable
            ]
            assert wanted, (seed, number)


def test_a_transaction_with_fewer_than_most_of_its_operation_is_cut_at() -> None:
    """Of two operations, with three and two FLUSHes, every 100th transaction lacks one."""
    rows = [
        (begin, begin + 5, 8 * place if kind == WRITE else 0, 8 if kind == WRITE else 0, kind)
        for number in range(COUNT)
        for place, kind in enumerate([WRITE, FLUSH] * (3 - number % 2 - (number in SKIPPED)))
        for begin in (1000 + 100 * number + 10 * place,)
    ]
    entries = np.array(rows, dtype=ENTRY)
    _, ran = transactions([], "flush")
    ran.commits = ran.commits.with_columns(
        op=pl.Series(["update" if number % 2 else "insert" for number in range(COUNT)])
    )
    made = cell(journal_mode="delete", synchronous="extra")
    found = unsynced.crash_points(made, Commands(entries, Cache.from_profile(made.profiles["device"])), ran)
    due = [1000 + 100 * (number + 1) for number in SKIPPED[:-1]]
    assert found.none == [] and entries["begin_ns"][found.fewer].tolist() == due
    for seed in range(6):
        plan = moments.plan(replace(made, cut_seed=seed), entries, ran)
        cut = {one.moment for one in plan if len(one.lost) == one.losable}
        assert {moment - 1 for moment in due} <= cut, seed
