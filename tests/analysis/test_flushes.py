"""Flush commands and the bios they were sent for, by a model of the kernel's block/blk-flush.c."""

from __future__ import annotations

import heapq
import random
from typing import Any

import numpy as np
import pytest

from analysis.ledger import flushes, match
from analysis.ledger.records import Columns
from model import block_operations

TOOK, SOON = 2_000_000, 3_000  # ns: a command; what a thread does until its request is inserted
PREFLUSH, FUA, WRITE = block_operations.PREFLUSH, block_operations.FUA, block_operations.WRITE


class Machine:
    """Threads that queue bios with PREFLUSH, some with data, on a device with so many places."""

    def __init__(self, seed: int, threads: int, places: int, late: int, plugged: bool) -> None:
        self.random = random.Random(seed)
        self.free, self.late, self.plugged = places, late, plugged
        self.events: list[tuple[int, int, str, Any]] = []
        self.waiting: list[int] = []  # bios without a place
        self.pending: list[int] = []
        self.running: list[int] | None = None
        self.in_flight = 0  # data of a sequence
        self.bios: list[tuple[int, int, int]] = []  # time, sectors, thread
        self.returned: dict[int, int] = {}
        self.commands: list[tuple[int, int, int, int, int, int]] = []  # issue, end, decided, sector, n, flags
        self.truth: list[tuple[int, int]] = []  # flush by its issue, bio
        self.left = [12] * threads
        for thread in range(threads):
            self.at(self.random.randrange(TOOK * 3), "queue", thread)

    def at(self, time: int, what: str, of: Any) -> None:
        heapq.heappush(self.events, (time, len(self.events) + self.random.randrange(1 << 30), what, of))

    def run(self) -> Machine:
        while self.events:
            time, _, what, of = heapq.heappop(self.events)
            getattr(self, what)(time, of)
        return self

    def queue(self, time: int, thread: int) -> None:
        self.left[thread] -= 1
        bio = len(self.bios)
        self.bios.append((time, 8 * self.random.randrange(2), thread))
        if self.free and not self.waiting:
            self.free -= 1
            self.at(time + SOON, "insert", bio)
        else:
            self.waiting.append(bio)

    def insert(self, time: int, bio: int) -> None:
        self.pending.append(bio)
        # a plug remembers a time of the same thread, if that did not wait meanwhile
        at_once = time == self.bios[bio][0] + SOON
        self.kick(time, self.bios[bio][0] - 500 if self.plugged and at_once else time)

    def kick(self, time: int, said: int) -> None:
        if self.running is None and self.pending and not self.in_flight:
            self.running, self.pending = self.pending, []
            self.at(time + TOOK, "flushed", (time + 5_000, said))

    def flushed(self, time: int, begun: tuple[int, int]) -> None:
        issue, said = begun
        done, self.running = self.running or [], None
        self.commands.append((issue, time, said, 0, 0, block_operations.FLUSH | PREFLUSH))
        for bio in done:
            self.truth.append((issue, bio))
            if self.bios[bio][1]:
                self.in_flight += 1
                self.at(time + 4_000 + TOOK, "written", bio)
            else:
                self.end(time, bio)
        self.kick(time, time)

    def written(self, time: int, bio: int) -> None:
        self.in_flight -= 1
        flags = WRITE | FUA
        self.commands.append((time - TOOK, time, self.bios[bio][0] + SOON, 800 * bio, 8, flags))
        self.end(time, bio)
        self.kick(time, time)

    def end(self, time: int, bio: int) -> None:
        self.free += 1
        if self.waiting:
            self.free -= 1
            self.at(time + 20_000 + self.random.randrange(self.late), "insert", self.waiting.pop(0))
        awake = time + 10_000 + self.random.randrange(self.late)
        if not self.bios[bio][1]:
            self.returned[bio] = awake
        thread = self.bios[bio][2]
        if self.left[thread]:
            self.at(awake + self.random.randrange(TOOK), "queue", thread)

    def matched(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]], Any]:
        """What was so, what is found, and the times between which each bio's flush lies."""
        order = sorted(range(len(self.bios)), key=lambda bio: self.bios[bio][0])
        place = {bio: row for row, bio in enumerate(order)}
        self.commands.sort()
        columns = np.array(self.commands, np.int64).T
        block = Columns(dict(zip(("begin_ns", "end_ns", "c", "a", "n", "b"), columns, strict=True)))
        times, sectors = (np.array([self.bios[bio][field] for bio in order], np.int64) for field in (0, 1))
        flags = np.where(sectors > 0, WRITE | PREFLUSH | FUA, WRITE | PREFLUSH)
        sector = np.array([800 * bio for bio in order], np.int64) * (sectors > 0)
        bio = Columns({"begin_ns": times, "n": sectors, "a": sector, "b": flags})
        returned = np.array([self.returned.get(one, flushes.NEVER) for one in order], np.int64)
        found = flushes.flushed(block, bio, match.parts(block, bio), returned)
        issue = block["begin_ns"]
        pairs = sorted(zip(issue[found.command].tolist(), found.bio.tolist(), strict=True))
        return sorted((at, place[one]) for at, one in self.truth), pairs, (times, issue, returned)


@pytest.mark.parametrize("plugged", [False, True])
@pytest.mark.parametrize(("threads", "places"), [(1, 1), (2, 1), (4, 1), (6, 1), (4, 32), (12, 64)])
def test_each_flush_is_of_the_bios_that_it_served(threads: int, places: int, plugged: bool) -> None:
    """With one place in the device's queue, or one for each thread, and threads that soon get the CPU.

    But for a bio that was queued as a flush was sent, before its request was inserted.
    """
    for seed in range(8):
        machine = Machine(seed, threads, places, 300_000, plugged).run()
        truth, found, (times, *_) = machine.matched()
        sent = np.array([command[2] for command in machine.commands if not command[4]])
        before = np.searchsorted(sent, times)
        raced = set(np.flatnonzero(np.r_[sent, flushes.NEVER][before] - times < SOON).tolist())
        assert [pair for pair in found if pair[1] not in raced] == [
            pair for pair in truth if pair[1] not in raced
        ], seed
        assert len(raced) < 0.02 * times.size


@pytest.mark.parametrize(("threads", "places"), [(2, 1), (6, 1), (4, 2), (6, 3), (12, 4), (12, 64)])
def test_each_flush_has_a_bio_and_each_bio_one_that_it_can_have_had(threads: int, places: int) -> None:
    """However long threads wait for the CPU."""
    for seed in range(8):
        machine = Machine(seed, threads, places, 12_000_000, seed % 2 == 0).run()
        truth, found, (times, _, returned) = machine.matched()
        ends = {command[0]: command[1] for command in machine.commands if not command[4]}
        assert sorted(bio for _, bio in found) == sorted(bio for _, bio in truth)
        assert {issue for issue, _ in found} == set(ends)
        assert all(times[bio] <= issue for issue, bio in found)
        assert all(ends[issue] <= returned[bio] for issue, bio in found), seed
