"""Block commands are matched by what is open: what a trace lacks changes no other command."""

import random

import block_trace
import numpy as np
import pytest

from analysis.adapters import blkowners, blkpairs
from analysis.adapters.blkevents import EVENT
from analysis.adapters.blkrecords import BACK_MERGE, COMPLETE, FRONT_MERGE, ISSUE, QUEUE, REQUEUE, WRITE
from analysis.inspect import traced

SEEDS = range(2)
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


def any_order(seed: int) -> np.ndarray:
    """Return events of few sectors in any order, many of which merge what was queued last."""
    choose = random.Random(seed)
    rows = np.zeros(choose.choice([10, 60, 100]), EVENT)
    base = start = end = 0
    for row in rows:
        action = choose.choices(
            [QUEUE, BACK_MERGE, FRONT_MERGE, REQUEUE, ISSUE, COMPLETE], [5, 5, 1, 1, 3, 1]
        )[0]
        if choose.random() < 0.15:
            start = choose.randrange(4) * 8
            end = start + choose.choice([8, 16])
        elif action == QUEUE:
            start, end = end % 32, end % 32 + 8
        elif action == ISSUE and base < end:
            start = base
        if action == QUEUE and choose.random() < 0.5:
            base = start
        row["action"], row["device"] = action | WRITE, 8 << 20 | choose.choice([0] * 9 + [16])
        row["sector"], row["bytes"] = start, (end - start) * 512
    return rows


def test_merges_at_once_are_those_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    merged, found = 0, []
    for seed in range(100):
        rows = any_order(seed)
        pairs, whole = blkpairs.pair(rows), np.zeros(len(rows), bool)
        kind, size = rows["action"] & ~np.uint32(WRITE), rows["bytes"].astype(np.int64)
        kept, _ = blkowners.merged(
            kind, blkpairs.targets(rows, np.arange(rows.size)), rows["sector"].astype(np.int64), size
        )
        merged += len(rows) - kept.size
        found.append((rows, pairs, whole, blkowners.queued(rows, pairs, whole)))
    assert merged > 100
    monkeypatch.setattr(
        blkowners, "merged", lambda kind, _target, _sector, size: (np.arange(kind.size), size)
    )
    for rows, pairs, whole, at_once in found:
        for one, other in zip(at_once, blkowners.queued(rows, pairs, whole), strict=True):
            assert np.array_equal(one, other)
