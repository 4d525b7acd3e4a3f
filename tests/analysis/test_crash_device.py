"""Power cuts by a device's log: which commands may be lost, by the module's rule; what each trial loses."""

import random

import numpy as np
import pytest
from some_cell import some_cell

from analysis.adapters.device_logs import ENTRY
from model.block_operations import DISCARD, FLUSH, FUA, READ, WRITE
from model.cell import Cell
from model.crash_points import cuts, policies
from model.crash_points.cuts import Trial
from model.crash_points.durable import SECTOR, Cache, Commands

CACHED = Cache(bytes=512 * 1024, reorders=False, block=512, unit=32768)
SEEDS = range(15)


def some_log(seed: int, depth: int = 4, count: int = 60) -> np.ndarray:
    """Commands that overlap in time, as a device of that depth gets them."""
    generator, now, ends = random.Random(seed), 1000, []
    rows = []
    for _ in range(count):
        now += generator.randrange(1, 40)
        ends = [end for end in ends if end > now]
        if len(ends) >= depth:
            now = min(ends) + 1
            ends = [end for end in ends if end > now]
        kind = generator.choice([READ, WRITE, WRITE, WRITE, WRITE | FUA, FLUSH, DISCARD])
        end = now + generator.randrange(1, 120)
        sectors = 0 if kind == FLUSH else generator.randrange(1, 40)
        rows.append((now, end, 0 if kind == FLUSH else generator.randrange(500), sectors, kind))
        ends.append(end)
    return np.array(rows, dtype=ENTRY)


class Module:
    """images/devices/flashsim/cache.c and queue.c: what is remembered of a change, and when it is settled."""

    def __init__(self, entries: np.ndarray, cached: bool) -> None:
        self.changes: dict[int, dict[str, int | bool]] = {}
        self.flushed = self.flushes = 0
        events = []
        for number, one in enumerate(entries):
            # what ends at the moment at which another comes has ended
            events += [(int(one["begin_ns"]), 1, number), (int(one["end_ns"]), 0, number)]
        self.entries, self.cached, self.events = entries, cached, sorted(events)
        self.sent: dict[int, int] = {}

    def losable_at(self, moment: int) -> list[int]:
        for when, begins, number in self.events:
            if when > moment:
                break
            self.begin(number) if begins else self.end(number)
        return [number for number, change in self.changes.items() if not self.durable(change)]

    def durable(self, change: dict[str, int | bool]) -> bool:
        return bool(change["durable"] or (change["flush"] and change["flush"] <= self.flushed))

    def begin(self, number: int) -> None:
        kind = int(self.entries[number]["operation"])
        if kind == FLUSH:
            self.flushes += 1
            self.sent[number] = self.flushes
            for change in self.changes.values():
                if not change["pinned"] and not change["flush"]:
                    change["flush"] = self.flushes
        elif kind != READ:
            forced = bool(kind & FUA) or not self.cached
            self.changes[number] = {"durable": False, "pinned": True, "flush": 0, "forced": forced}

    def end(self, number: int) -> None:
        if number in self.changes:
            self.changes[number]["durable"] = self.changes[number]["forced"]
            self.changes[number]["pinned"] = False
        self.flushed = max(self.flushed, self.sent.get(number, 0))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cached", [True, False])
def test_as_the_module_has_it(seed: int, cached: bool) -> None:
    entries = some_log(seed)
    commands = Commands(entries, CACHED if cached else Cache(0, False, 512, 512))
    generator = random.Random(seed)
    last = int(entries["end_ns"].max())
    for moment in [generator.randrange(900, last + 100) for _ in range(30)]:
        assert commands.losable(moment).tolist() == Module(entries, cached).losable_at(moment), moment


@pytest.mark.parametrize("seed", SEEDS)
def test_and_nothing_else(seed: int) -> None:
    entries = some_log(seed, count=200)
    cache = Cache(40 * SECTOR, False, 512, 4096, frozenset(["flush", "fua"]))
    commands = Commands(entries, cache)
    for moment in range(900, int(entries["end_ns"].max()) + 50, 97):
        behind, lost = 0, []
        for number in reversed(range(int((entries["begin_ns"] <= moment).sum()))):
            kind, done = int(entries["operation"][number]) & 0xFF, entries["end_ns"][number] <= moment
            if kind in (WRITE, DISCARD) and not (done and behind >= cache.bytes):
                lost.insert(0, number)
            behind += int(entries["sectors"][number]) * SECTOR * (kind == WRITE)
        assert commands.losable(moment).tolist() == lost, moment


def cell(**values: object) -> Cell:
    geometry = {"cache_kib": 512, "cache_reorder": 1, "block_bytes": 512, "program_bytes": 4096}
    profiles = {"device": {"geometry": geometry}}
    return some_cell(**{"crash": "power", "cuts": 50, "cut_seed": 1, "profiles": profiles, **values})


def planned(entries: np.ndarray, **values: object) -> list[Trial]:
    return cuts.plan(cell(**values), entries, (0, int(entries["end_ns"].max()) + 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_trial_is_what_its_device_may_do(seed: int) -> None:
    entries = some_log(seed, count=80)
    commands = Commands(entries, Cache.from_profile(cell().profiles["device"]))
    trials = planned(entries, cut_seed=seed)
    assert [trial.number for trial in trials] == list(range(50))
    assert [trial.moment for trial in trials[1:-1]] == sorted(trial.moment for trial in trials[1:-1])
    for trial in trials:
        may_lose = commands.losable(trial.moment).tolist()
        assert set(trial.lost) <= set(may_lose)
        assert trial.losable == len(may_lose)
        assert trial.arrived == int((entries["begin_ns"] <= trial.moment).sum())
        if trial.torn:
            number, sectors = trial.torn
            assert number in trial.lost and 0 < sectors < entries["sectors"][number]
    assert planned(entries, cut_seed=seed) == trials


def test_with_enough_cuts_each_flush_is_cut_before_and_after_with_every_choice() -> None:
    entries = some_log(5)
    trials = planned(entries, cuts=2000)
    commands = Commands(entries, CACHED)
    for command in np.flatnonzero(commands.is_flush | commands.is_fua).tolist():
        for where in ("before", "after"):
            tried = {one.policy for one in trials if (one.command, one.where) == (command, where)}
            assert tried >= {policies.EVERYTHING}
            if any(one.losable for one in trials if (one.command, one.where) == (command, where)):
                assert tried >= {
                    policies.NOTHING,
                    policies.PREFIX,
                    policies.TORN,
                    policies.SUBSET,
                    policies.SUFFIX,
                }
