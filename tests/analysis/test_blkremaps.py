"""Stacked block devices: a command that a worker submits belongs to the process that queued the bio above."""

import random
from typing import Any

import block_trace
import numpy as np
import pytest

from analysis.adapters.blkevents import EVENT
from analysis.adapters.blkrecords import COMPLETE, FLUSH, ISSUE, QUEUE, REMAP, SYNC, WRITE
from analysis.inspect import traced

MD, DM, DISK = 9 << 20, 253 << 20, 8 << 20
OFFSET = {(MD, DM): 2048, (DM, DISK): 4096}
WORKERS = {DM: 50, DISK: 51}
Owners = dict[tuple[int, int, int], str]  # {(device, begin in ns, sector): process}


def stack(seed: int, number: int) -> tuple[np.ndarray, list[tuple[tuple[int, int, int], int, set[int]]]]:
    """Return events of md on dm on a partition, and of each command its key, its process and its events.

    The events of a command are those of the commands above it, too. Workers submit what was remapped when
    they come to it; ranges are used again; what is not for md is written to the disk itself.
    """
    choose = random.Random(seed)
    lines: list[tuple[int, dict[str, Any]]] = []
    commands: list[tuple[tuple[int, int, int], int, list[int]]] = []

    def event(time: int, action: int, device: int, sector: int, sectors: int, pid: int, **more: int) -> int:
        size = sectors * 512
        fields = {"time": time, "action": action, "device": device, "sector": sector, "bytes": size}
        lines.append((time, {**fields, "pid": pid, **more}))
        return len(lines) - 1

    def bio(
        now: int, device: int, sector: int, sectors: int, kind: int, pid: int, owner: int, above: list[int]
    ) -> int:
        """Queue a bio, and return when it is done."""
        own = [event(now, QUEUE | kind, device, sector, sectors, pid)]
        if device == DISK:
            issued = FLUSH | SYNC if kind & FLUSH else kind
            begin = now + 11
            own.append(event(begin, ISSUE | issued, device, sector, sectors, 7))
            done = begin + choose.randrange(200, 900)
            own.append(event(done, COMPLETE | issued, device, sector, sectors, 0))
            commands.append(((device, begin, sector), owner, above + own))
            return done + 1
        below = DM if device == MD else DISK
        to = sector + OFFSET[device, below] if sectors else 0
        later = now + choose.randrange(5, 90)
        remap = {"source": device, "other": sector}
        handed = [event(later, REMAP | kind, below, to, sectors, pid, **remap)]
        if below == DISK and sectors:  # to a partition, which is at 64
            remap = {"source": DISK + 1, "other": to}
            to += 64
            handed.append(event(later + 1, REMAP | kind, below, to, sectors, pid, **remap))
        commands.append(((device, now, sector), owner, above + own))
        worker = WORKERS[below]
        done = bio(
            later + choose.randrange(2, 70), below, to, sectors, kind, worker, owner, above + own + handed
        )
        own.append(event(done, COMPLETE | kind, device, sector, sectors, 0))
        return done + 1

    now, busy = 1000, dict[int, int]()
    for _ in range(number):
        now += choose.randrange(50, 700)
        device, sector, pid = (
            choose.choice((MD, MD, MD, DISK)),
            choose.randrange(6) * 8,
            choose.randrange(100, 108),
        )
        is_flush = choose.random() < 0.2
        place = -1 if is_flush else sector
        if busy.get(place, 0) > now:
            continue
        kind = WRITE | SYNC | (FLUSH if is_flush else 0)
        sector += 6208 if device == DISK else 0
        busy[place] = bio(now, device, 0 if is_flush else sector, 0 if is_flush else 8, kind, pid, pid, [])
    order = sorted(range(len(lines)), key=lambda nth: (lines[nth][0], nth))
    places = {nth: at for at, nth in enumerate(order)}
    rows = np.zeros(len(order), EVENT)
    for at, nth in enumerate(order):
        for name, value in lines[nth][1].items():
            rows[name][at] = value
    rows["name"] = rows["pid"]
    return rows, [(key, owner, {places[nth] for nth in own}) for key, owner, own in commands]


def owners(rows: np.ndarray) -> Owners:
    """Return who each command is attributed to."""
    columns = ("dev", "begin_ns", "sector", "comm")
    found: Owners = {}
    for dev, begin, sector, comm in (
        traced.commands(block_trace.events(rows)).commands.select(columns).iter_rows()
    ):
        major, minor = dev.split(":")
        found[int(major) << 20 | int(minor), begin, sector] = comm
    return found


@pytest.mark.parametrize("seed", range(2))
def test_each_layer_has_the_process_above(seed: int) -> None:
    rows, commands = stack(seed, 150)
    found = owners(rows)
    assert len(found) == len(commands) > 250
    wrong = {key: (found[key], owner) for key, owner, _ in commands if found[key] != f"p{owner}"}
    assert not wrong


@pytest.mark.parametrize("seed", range(2))
def test_a_dropped_event_changes_no_other_command(seed: int) -> None:
    """Without a remap, those below are their worker's; all others are whose they were."""
    rows, commands = stack(seed, 25)
    workers = {f"p{worker}" for worker in WORKERS.values()}
    changed = 0
    for dropped in range(len(rows)):
        found = owners(np.delete(rows, dropped))
        is_remap = rows["action"][dropped] & 0xFF == REMAP
        for key, owner, own in commands:
            if dropped not in own:
                assert found[key] == f"p{owner}", f"without event {dropped}"
            elif is_remap and found[key] != f"p{owner}":
                assert found[key] in workers
                changed += 1
    assert changed > 10
