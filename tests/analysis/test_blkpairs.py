"""Block commands are matched by what is open: what a trace lacks changes no other command."""

from __future__ import annotations

import block_trace
import numpy as np
import pytest

from analysis.adapters import blkowners, blkpairs
from analysis.inspect import traced

SEEDS = range(3)
Told = dict[tuple[int, str, int, int], tuple[int | None, int | None, str | None]]


def told(rows: np.ndarray) -> Told:
    """Return {(issue, device, sector, sectors): (queue, end, process)}; none may end before it begins."""
    pairs = blkpairs.pair(rows)
    owner, _ = blkowners.queued(rows, pairs, np.zeros(len(rows), bool))
    found: Told = {}
    for issue, done, queue in zip(pairs.issue.tolist(), pairs.done.tolist(), owner.tolist(), strict=True):
        assert (done < 0 or done > issue) and queue < issue
        row = rows[issue]
        device = f"{row['device'] >> 20}:{row['device'] & 0xFFFFF}"
        key = (int(row["time"]), device, int(row["sector"]), int(row["bytes"]) // 512)
        found[key] = (
            int(rows["time"][queue]) if queue >= 0 else None,
            int(rows["time"][done]) if done >= 0 else None,
            f"p{rows['pid'][queue]}" if queue >= 0 else None,
        )
    return found


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
    rows, commands = block_trace.Made(seed).whole(20)
    for dropped in range(len(rows)):
        kept = np.ones(len(rows), bool)
        kept[dropped] = False
        holds(rows, commands, kept, f"without event {dropped}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_changes_no_other_command(seed: int) -> None:
    rows, commands = block_trace.Made(seed).whole(20)
    at = np.arange(len(rows))
    for cut in range(1, len(rows)):
        holds(rows, commands, at >= cut, f"from event {cut} on")
        holds(rows, commands, at < cut, f"up to event {cut}")
