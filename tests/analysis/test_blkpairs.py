"""Block commands are matched by what is open: what a trace lacks changes no other command."""

from __future__ import annotations

import block_trace
import numpy as np
import pytest

from analysis.inspect import traced

SEEDS = range(12)
Told = dict[tuple[int, str, int, int], tuple[int | None, int | None, str | None]]


def told(rows: np.ndarray) -> Told:
    """Return {(issue, device, sector, sectors): (queue, end, process)}; no command may end before it begins."""
    found = traced.commands(block_trace.events(rows)).commands
    late = found.filter(found["end_ns"] < found["begin_ns"]).height
    early = found.filter(found["begin_ns"] < found["queue_ns"]).height
    assert (late, early) == (0, 0)
    keys = found.select("issue_ns", "dev", "sector", "sectors").iter_rows()
    return dict(zip(keys, found.select("queue_ns", "end_ns", "comm").iter_rows(), strict=True))


def true(rows: np.ndarray, commands: list[block_trace.Command], kept: np.ndarray) -> Told:
    """Return what is to be told of those commands all of whose events are kept."""
    time, whole = rows["time"], {}
    for one in commands:
        if not kept[list(one.events)].all():
            continue
        row = rows[one.issue]
        device = f"{row['device'] >> 20}:{row['device'] & 0xFFFFF}"
        key = (int(time[one.issue]), device, int(row["sector"]), int(row["bytes"]) // 512)
        whole[key] = (int(time[one.queue]), int(time[one.done]), f"p{one.pid}")
    return whole


def holds(rows: np.ndarray, commands: list[block_trace.Command], kept: np.ndarray, what: str) -> None:
    """Every command that has all its events is told as it was."""
    found, expected = told(rows[kept]), true(rows, commands, kept)
    wrong = {key: (found.get(key), value) for key, value in expected.items() if found.get(key) != value}
    assert not wrong, f"{what}: {list(wrong.items())[:3]}"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_whole_trace_is_told_as_it_was(seed: int) -> None:
    rows, commands = block_trace.Made(seed).whole(400)
    kept = np.ones(len(rows), bool)
    holds(rows, commands, kept, "whole")
    assert len(told(rows)) == len(commands)
    assert traced.commands(block_trace.events(rows)).orphans.is_empty()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_dropped_event_changes_no_other_command(seed: int) -> None:
    rows, commands = block_trace.Made(seed).whole(50)
    for dropped in range(len(rows)):
        kept = np.ones(len(rows), bool)
        kept[dropped] = False
        holds(rows, commands, kept, f"without event {dropped}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_changes_no_other_command(seed: int) -> None:
    rows, commands = block_trace.Made(seed).whole(50)
    at = np.arange(len(rows))
    for cut in range(1, len(rows)):
        holds(rows, commands, at >= cut, f"from event {cut} on")
        holds(rows, commands, at < cut, f"up to event {cut}")
