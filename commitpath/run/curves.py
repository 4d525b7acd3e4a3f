"""Compute a device's latency and IOPS curves, and its published numbers, by the flash model on this host.

A curve is IOPS, MB/s or latency over command size, queue depth, range, MiB written, open units, KiB written
before a FLUSH, or depth of writes during reads. `make profile` fits a profile to the numbers of its sources.

The host's share of a command, in its block layer and in fio, is a constant of one CPU: HOST_NS.
"""

import heapq
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from base.errors import BadInputError
from commitpath.cells.axes import axes
from images.flash_model import SECTORS_PER_MIB, FlashModel
from model.cell import Cell

Profile = Mapping[str, Any]
Numbers = dict[str, float]
Command = Callable[[FlashModel, int], tuple[int, int]]  # (model, now) to its end and its bytes

# CPU time of a command on the virtual board, 27 to 31 us (docs/measurements/calibration.md)
HOST_NS, MOST_HOST_NS = 29000, 1_000_000
SECTOR = 512
# the range of fio's random jobs (playbooks/board/calibrate.fio)
RANGE_MIB = 100
COUNT = 2000  # commands of a measurement
# bytes of a measurement of large commands, at most
MOST = 128 << 20


def host_time(text: str | None, default: int = HOST_NS) -> int:
    """Return the variable HOST_NS as a number. Raises BadInputError."""
    if text is None:
        return default
    if not text.isdecimal() or int(text) > MOST_HOST_NS:
        raise BadInputError(f"HOST_NS={text}: HOST_NS is 0 to {MOST_HOST_NS} ns")
    return int(text)


def fitted_host_time(device: str) -> int:
    """Return the HOST_NS with which a profile was fitted: its command stands at the top of the file."""
    named = re.search(r"\bHOST_NS=([0-9]+)", axes()["device"].files()[device].read_text(encoding="utf-8"))
    return int(named[1]) if named else HOST_NS


def source_notes(cell: Cell, host_ns: int) -> list[str]:
    """Return how the sources of a cell's device differ from it: in its state, in the host's time."""
    notes, fitted = [], fitted_host_time(cell.device)
    if cell.device_state != axes()["device_state"].spec["default"]:
        notes.append(f"DEVICE_STATE={cell.device_state}: the sources are of a fresh device")
    if fitted != host_ns:
        notes.append(
            f"fitted to its sources with HOST_NS={fitted}; here a command takes the host {host_ns} ns"
        )
    return notes


@dataclass
class Loop:
    """Commands at a constant depth, and what came of them."""

    command: Command
    depth: int = 1
    done: int = 0
    bytes: int = 0
    waited: int = 0  # sum of the latencies, ns
    end: int = 0

    def numbers(self, since: int = 0) -> Numbers:
        """Return mean latency, IOPS and MB/s, from `since` to the end."""
        seconds = (self.end - since) / 1e9
        return {
            "us": self.waited / self.done / 1000,
            "IOPS": self.done / seconds,
            "MB/s": self.bytes / seconds / 1e6,
        }


@dataclass
class Host:
    """A host that keeps its loops going on a device."""

    profile: Profile
    host_ns: int
    free: int = 0
    in_flight: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = FlashModel(self.profile)
        self.most = self.profile["geometry"]["queue_depth"]

    def run(self, count: int, *loops: Loop) -> Loop:
        """Run until the first loop has done COUNT commands; return it. The device's queue may be full."""
        begin = self.free
        waiting = [(begin, number) for number, loop in enumerate(loops) for _ in range(loop.depth)]
        while loops[0].done < count:
            ready, number = heapq.heappop(waiting)
            loop = loops[number]
            now = max(ready, self.free) + self.host_ns
            while len(self.in_flight) >= self.most:
                now = max(now, heapq.heappop(self.in_flight))
            self.free = now
            end, size = loop.command(self.model, now)
            heapq.heappush(self.in_flight, end)
            heapq.heappush(waiting, (end, number))
            loop.done += 1
            loop.bytes += size
            loop.waited += end - ready
            loop.end = max(loop.end, end)
        return loops[0]


def sectors_of(kib: float, mib: int, at_random: bool) -> Iterator[tuple[int, int]]:
    """Yield (sector, sectors) of commands within the first MIB of the device."""
    size = int(kib * 1024) // SECTOR
    places = mib * SECTORS_PER_MIB // size
    numbers = random.Random(1)
    number = 0
    while True:
        yield (numbers.randrange(places) if at_random else number % places) * size, size
        number += 1


def data(side: str, kib: float, mib: int, at_random: bool, depth: int = 1) -> Loop:
    """Return a loop of reads, writes, FUA writes (`fua`), or writes with a sync each (`synced`)."""
    addresses = sectors_of(kib, mib, at_random)

    def command(model: FlashModel, now: int) -> tuple[int, int]:
        sector, sectors = next(addresses)
        if side == "read":
            return model.read(now, sector, sectors), sectors * SECTOR
        return model.write(now, sector, sectors, side == "fua"), sectors * SECTOR

    return Loop(command, depth)


def synced(profile: Profile, kib: int, mib: int, host_ns: int) -> Numbers:
    """Return the time of a write and its FLUSH, in 4 KiB commands; without a cache no FLUSH is sent."""
    writes = data("write", 4, mib, True).command
    flushes = profile["geometry"]["write_cache"]

    def command(model: FlashModel, now: int) -> tuple[int, int]:
        end = now
        for number in range(kib // 4):
            end, _ = writes(model, end + (host_ns if number else 0))
        return (model.flush(end + host_ns) if flushes else end), kib * 1024

    return Host(profile, host_ns).run(max(20, min(500, 4000 // kib)), Loop(command)).numbers()


def flush_after(profile: Profile, kib: float, host_ns: int) -> Numbers:
    """Return the time of a FLUSH alone after KIB of 4 KiB writes."""
    host, writes, waited = Host(profile, host_ns), data("write", 4, RANGE_MIB, True), 0
    rounds = 10
    for number in range(rounds):
        host.run(int((number + 1) * kib // 4), writes)
        host.free = writes.end + host_ns
        waited += (end := host.model.flush(host.free)) - writes.end
        host.free = end
    seconds = waited / 1e9
    return {"us": waited / rounds / 1000, "IOPS": rounds / seconds, "MB/s": writes.bytes / seconds / 1e6}


def measured(profile: Profile, loop: Loop, host_ns: int, kib: float = 4) -> Numbers:
    """Return the numbers of a loop on a device as after `reset`."""
    return Host(profile, host_ns).run(min(COUNT, max(64, int(MOST / (kib * 1024)))), loop).numbers()


def sustained(profile: Profile, mib: float, host_ns: int) -> Numbers:
    """Return the numbers of the last 16 of MIB of sequential writes, as deep as the queue, at most 32."""
    depth = min(32, profile["geometry"]["queue_depth"])
    host, loop = Host(profile, host_ns), data("write", 512, profile["size_mib"], False, depth)
    before = int(mib * 2) - 32
    if before > 0:
        host.run(before, loop)
    since, loop.done, loop.bytes, loop.waited = loop.end, 0, 0, 0
    return host.run(32, loop).numbers(since)


def during_writes(profile: Profile, depth: float, host_ns: int) -> Numbers:
    """Return the numbers of random reads at depth 1 during sequential writes of 128 KiB at DEPTH."""
    reads = data("read", 4, RANGE_MIB, True)
    writes = [data("write", 128, RANGE_MIB, False, int(depth))] if depth else []
    return Host(profile, host_ns).run(500, reads, *writes).numbers()


def units(profile: Profile, number: float, host_ns: int) -> Numbers:
    """Return the numbers of 256 KiB writes that take turns between units, each in order, as flashbench's."""
    size, step = profile["geometry"]["unit_kib"] * 2, 512
    turns, steps = int(number), max(1, size // step)
    count = 0

    def command(model: FlashModel, now: int) -> tuple[int, int]:
        nonlocal count
        turn, unit = divmod(count, turns)
        place = (turn // steps * turns + unit) * size + turn % steps * step
        count += 1
        return model.write(now, place % (model.sectors - step), step), step * SECTOR

    return Host(profile, host_ns).run(64 * turns, Loop(command)).numbers()


@dataclass(frozen=True)
class Curve:
    """A curve: its axes, the points computed, and how."""

    title: str
    x: str
    unit: str
    points: tuple[float, ...]
    compute: Callable[[Profile, float, int], Numbers]
    needs: str = ""  # a parameter without which there is nothing to draw
    kib: float = 4  # of a command; 0: x


SIZES = (4, 8, 16, 32, 64, 128, 256, 512)
DEPTHS = (1, 2, 4, 8, 16, 32, 64)


def at_depth(side: str) -> Callable[[Profile, float, int], Numbers]:
    """Return what computes 4 KiB random commands at a depth."""
    return lambda p, x, ns: measured(p, data(side, 4, RANGE_MIB, True, int(x)), ns)


def of_size(side: str) -> Callable[[Profile, float, int], Numbers]:
    """Return what computes random commands of a size, as deep as the device's queue, at most 32."""
    return lambda p, x, ns: measured(
        p, data(side, x, RANGE_MIB, True, min(32, p["geometry"]["queue_depth"])), ns, x
    )


# Names in `sources` of a profile, with `at` for x.
CURVES = {
    "write_range": Curve(
        "4 KiB random write over the range", "MiB of the range", "IOPS",
        (1, 4, 16, 64, 256, 1024, 2048),
        lambda p, x, ns: measured(p, data("write", 4, min(int(x), p["size_mib"]), True), ns),
    ),
    "write_sustained": Curve(
        "sequential write over time", "MiB written", "MB/s",
        (16, 64, 128, 256, 512, 1024, 2048, 4096), sustained, kib=512,
    ),
    "read_depth": Curve("4 KiB random read over depth", "queue depth", "us", DEPTHS, at_depth("read")),
    "write_depth": Curve("4 KiB random write over depth", "queue depth", "us", DEPTHS, at_depth("write")),
    "read_beside_writes": Curve(
        "4 KiB read during writes", "depth of 128 KiB writes", "us", (0, 1, 2, 4, 8, 16), during_writes
    ),
    "open_units": Curve(
        "256 KiB writes to units in turn", "units", "MB/s", tuple(range(1, 9)), units, kib=256
    ),
    "flush_dirty": Curve(
        "FLUSH over dirty data", "KiB written before", "us", (4, 16, 64, 256, 1024, 4096),
        flush_after, "write_cache",
    ),
    "write_size": Curve("random write over size", "KiB", "MB/s", SIZES, of_size("write"), kib=0),
    "read_size": Curve("random read over size", "KiB", "MB/s", SIZES, of_size("read"), kib=0),
}  # fmt: skip


def of_measure(profile: Profile, name: str, host_ns: int) -> Numbers:
    """Return the numbers of a measurement of playbooks/board/calibrate.sh, as the model has them."""
    if name == "write_fdatasync_4k":
        return synced(profile, 4, RANGE_MIB, host_ns)
    if name == "write_fua_4k":
        # the kernel sends a FLUSH instead of a missing FUA
        if not profile["geometry"]["fua"]:
            return synced(profile, 4, RANGE_MIB, host_ns)
        return measured(profile, data("fua", 4, RANGE_MIB, True), host_ns)
    side, pattern, size, *depth = name.split("_")
    kib = int(size.removesuffix("k"))
    deep = int(depth[0].removeprefix("qd")) if depth else 1
    return measured(profile, data(side, kib, RANGE_MIB, pattern == "random", deep), host_ns, kib)


def of_source(profile: Profile, source: Mapping[str, Any], host_ns: int) -> float:
    """Return the model's number for a source, in its unit."""
    name = source["measure"]
    if name in CURVES:
        return CURVES[name].compute(profile, source["at"], host_ns)[source["unit"]]
    return of_measure(profile, name, host_ns)[source["unit"]]


def compute(profile: Profile, host_ns: int) -> dict[str, list[tuple[float, float]]]:
    """Return the points (x, y) of each curve that the device has."""
    return {
        name: [(x, curve.compute(profile, x, host_ns)[curve.unit]) for x in curve.points]
        for name, curve in CURVES.items()
        if not curve.needs or profile["geometry"][curve.needs]
    }
