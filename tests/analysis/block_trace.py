"""Random block traces and the commands they truly hold: bios split, merged or requeued, and flushes."""

import itertools
import random
from typing import Any, NamedTuple

import numpy as np

from analysis.adapters.blkevents import EVENT, Collected, Events
from analysis.adapters.blkrecords import (
    BACK_MERGE,
    COMPLETE,
    DISCARD,
    FLUSH,
    FRONT_MERGE,
    GET_REQUEST,
    INSERT,
    ISSUE,
    QUEUE,
    REQUEUE,
    SPLIT,
    SYNC,
    WRITE,
)

DEVICES = (8 << 20, 259 << 20 | 3)
KINDS = (0, WRITE, WRITE | SYNC, WRITE | DISCARD)


class Command(NamedTuple):
    """What really happened: events are the indices of its own."""

    queue: int
    issue: int
    done: int
    pid: int
    events: frozenset[int]


class Made:
    """A trace that grows."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[tuple[int, int, dict[str, Any]]] = []
        self.truth: list[tuple[dict[str, int], int, list[int]]] = []
        self.busy: list[tuple[int, int, int, int, int]] = []  # device, direction, start, end, until

    def event(
        self, time: int, action: int, device: int, kind: int, sector: int, sectors: int, pid: int, **more: int
    ) -> int:
        """Add an event, and return its number."""
        fields = {"time": time, "action": action | kind, "device": device, "pid": pid}
        fields |= {"sector": sector, "bytes": sectors * 512}
        self.lines.append((time, len(self.lines), fields | more))
        return len(self.lines) - 1

    def free(self, device: int, kind: int, start: int, end: int, now: int) -> bool:
        """No two that overlap in one direction are under way at once: nobody could tell them apart."""
        self.busy = [item for item in self.busy if item[4] >= now]
        return not any(d == device and k == kind and s < end and start < e for d, k, s, e, _ in self.busy)

    def requests(self, now: int) -> None:  # noqa: PLR0915
        """Bios that are merged, split, put back and done in parts, by chance."""
        choose = self.random
        device, kind, pid = choose.choice(DEVICES), choose.choice(KINDS), choose.randrange(100, 108)
        start = choose.randrange(0, 64) * 8
        pieces = choose.choice([1, 1, 1, 2, 3])
        sizes = [choose.choice([8, 16, 32]) for _ in range(pieces)]
        end = start + sum(sizes)
        took = choose.randrange(2_000, 60_000)
        if not self.free(device, kind & (WRITE | DISCARD), start, end, now):
            return
        self.busy.append((device, kind & (WRITE | DISCARD), start, end, now + took))
        step = iter(range(now, now + 1000))
        own: list[int] = []
        add = lambda *given, **more: own.append(self.event(next(step), *given, **more))  # noqa: E731
        split = pieces > 1 and choose.random() < 0.5
        front = not split and pieces > 1 and choose.random() < 0.4
        bounds = [start + sum(sizes[:i]) for i in range(pieces + 1)]
        parts = list(itertools.pairwise(bounds))
        owners = [pid] * pieces
        queues = [0] * pieces
        if split:
            add(QUEUE, device, kind, start, end - start, pid)
            queues = [own[0]] * pieces
            for a, b in parts[:-1]:
                add(SPLIT, device, kind, a, b - a, pid, other=b)
            commands = parts
        else:
            commands = [(start, end)]
            order = list(range(pieces))[:: -1 if front else 1]
            for nth, i in enumerate(order):
                a, b = parts[i]
                owners[i] = choose.randrange(100, 108)
                add(QUEUE, device, kind, a, b - a, owners[i])
                queues[i] = own[-1]
                merged = nth > 0
                action = (FRONT_MERGE if front else BACK_MERGE) if merged else GET_REQUEST
                add(action, device, kind, a, b - a, owners[i])
        first = len(self.truth)
        for i, (a, b) in enumerate(commands):
            if choose.random() < 0.5:
                add(INSERT, device, kind, a, b - a, pid)
            if choose.random() < 0.1:
                add(ISSUE, device, kind, a, b - a, 7)
                add(REQUEUE, device, kind, a, b - a, 7)
            add(ISSUE, device, kind, a, b - a, 7)
            self.truth.append(({"queue": queues[i], "issue": own[-1], "done": -1}, owners[i], own))
        ends = sorted(choose.randrange(now + 1100, now + took + 1200) for _ in commands)
        choose.shuffle(ends)
        for i, (a, b) in enumerate(commands):
            until = ends[i]
            if b - a > 8 and choose.random() < 0.3:
                own.append(self.event(until - 5, COMPLETE, device, kind, a, 8, 0))
                own.append(self.event(until, COMPLETE, device, kind, a + 8, b - a - 8, 0))
            else:
                own.append(self.event(until, COMPLETE, device, kind, a, b - a, 0))
            self.truth[first + i][0]["done"] = own[-1]

    def flush(self, now: int) -> int:
        """A flush that a process asks for and a worker issues; returns when it is done."""
        device, pid, kind = self.random.choice(DEVICES), self.random.randrange(100, 108), FLUSH | WRITE | SYNC
        own = [
            self.event(now, QUEUE, device, kind, 0, 0, pid),
            self.event(now + 40, ISSUE, device, FLUSH, 0, 0, 9),
        ]
        took = self.random.randrange(100, 3_000)
        own.append(self.event(now + took, COMPLETE, device, FLUSH, 0, 0, 0))
        self.event(now + took + 20, COMPLETE, device, WRITE | SYNC, 0, 0, 0)
        self.truth.append(({"queue": own[0], "issue": own[1], "done": own[2]}, pid, own))
        return now + took + 30

    def whole(self, number: int) -> tuple[np.ndarray, list[Command]]:
        """Return all events by time (EVENT), and the commands with the numbers of those."""
        now = flushed = 1000
        for _ in range(number):
            now += self.random.randrange(100, 9_000)
            if self.random.random() < 0.2 and now > flushed:
                flushed = self.flush(now)
            else:
                self.requests(now)
        order = sorted(self.lines, key=lambda line: line[:2])
        place = {number: at for at, (_, number, _) in enumerate(order)}
        rows = np.zeros(len(order), EVENT)
        for at, (_, _, fields) in enumerate(order):
            for name, value in fields.items():
                rows[name][at] = value
        rows["name"] = rows["pid"]
        commands = []
        for at, pid, own in self.truth:
            queue, issue, done = (place[at[name]] for name in ("queue", "issue", "done"))
            commands.append(Command(queue, issue, done, pid, frozenset(place[number] for number in own)))
        return rows, commands


def events(rows: np.ndarray) -> Events:
    """Return rows as what a reader returns of them."""
    found = Collected()
    found.keep(rows[found.add(rows["action"], rows["device"])])
    return found.events()._replace(names=[None, *(f"p{pid}" for pid in range(1, 200))])
