"""Lists of reads, writes and flushes that `make profile` sends to a device to identify its parameters.

Each experiment identifies some parameters of the flash model (docs/measurements/profile-fit.md). Its cells
are the groups of commands that the fit compares, by their median or, where commands differ, their mean.
Places are fixed: a region of 1 MiB lies in one allocation unit, as units are multiples of 1 MiB.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
SECOND = 10**9
MS = 10**6
# what an experiment touches: a smaller partition cannot be measured
SPAN = 1024 * MIB
# in this region the map of a device is a page or two, whatever its size
READ_REGION = 4 * MIB
SUSTAINED_MIB = 256
FAR = 16 * MIB


@dataclass(frozen=True)
class Facts:
    """What the kernel reports of a device, and the host's own time in a command."""

    size_bytes: int
    block_bytes: int
    write_cache: bool
    fua: bool
    discard: bool
    host_ns: int


@dataclass(frozen=True)
class Row:
    """A command after an idle time. cell: the group that it is compared in; empty: not compared."""

    cell: str
    op: str
    offset: int
    size: int
    idle_ns: int = 0
    mean: bool = False


def durable(facts: Facts, cell: str, offset: int, size: int) -> Iterator[Row]:
    """Yield a write that is programmed when it ends, so that no cache hides what the flash does."""
    yield Row(cell, "f" if facts.fua else "w", offset, size)
    if facts.write_cache and not facts.fua:
        yield Row(f"{cell} flush", "F", 0, 0)


def empty_cache(facts: Facts, idle_ns: int) -> Iterator[Row]:
    """Yield a FLUSH and what makes the device idle."""
    if facts.write_cache:
        yield Row("", "F", 0, 0)
    yield Row("", "r", 0, 4 * KIB, idle_ns)


def sustained(facts: Facts, _: random.Random) -> Iterator[Row]:
    """Sequential writes: cache size, full program units, erase, SLC."""
    yield from empty_cache(facts, 10 * SECOND)
    for number in range(SUSTAINED_MIB * 2):
        first = number < 16
        cell = f"first {number}" if first else f"{number // 32}"
        yield Row(cell, "w", number * 512 * KIB, 512 * KIB, mean=not first)
    yield from empty_cache(facts, 20 * SECOND)


def map_reads(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """Random reads over growing ranges: the map that the controller holds."""
    for mib in (8, 32, 128, 512, 1024):
        for _turn in range(150):
            place = draw.randrange(mib * MIB // (4 * KIB)) * 4 * KIB
            yield Row(f"{mib} MiB", "r", place, 4 * KIB, mean=True)


def read_sizes(_: Facts, draw: random.Random) -> Iterator[Row]:
    """Reads by size, each twice: command, sensing, bus."""
    for _turn in range(100):
        yield Row("4k", "r", draw.randrange(READ_REGION // (4 * KIB)) * 4 * KIB, 4 * KIB)
    for exponent in range(2, 10):
        size = KIB << exponent
        for _turn in range(12):
            place = draw.randrange(READ_REGION // size) * size
            yield Row(f"{size // KIB}k", "r", place, size)
            yield Row(f"{size // KIB}k again", "r", place, size)


def read_pages(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """Reads at two distances, then the first again: the page, and how many dies have one."""
    for exponent in range(9, 18):
        distance = 1 << exponent
        for _ in range(8 if distance >= facts.block_bytes else 0):
            place = draw.randrange(READ_REGION // (256 * KIB)) * 256 * KIB
            yield Row("", "r", place, facts.block_bytes)
            yield Row(f"then {distance}", "r", place + distance, facts.block_bytes)
    distances = sorted({k * page * KIB for page in (4, 8, 16, 32, 64) for k in range(1, 17)})
    for distance in distances:
        for _ in range(5):
            place = draw.randrange(READ_REGION // (64 * KIB)) * 64 * KIB
            yield Row("", "r", place, 4 * KIB)
            yield Row("", "r", place + distance, 4 * KIB)
            yield Row(f"back {distance // KIB}k", "r", place, 4 * KIB)


def full_log(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """Writes out of order in one unit: large ones fill its log many times, small ones show what they take.

    No place is the begin of a unit, as a write there is in order.
    """
    region = 320 * MIB + 64 * KIB
    for size, count in ((64 * KIB, 300), (4 * KIB, 1200)):
        for _ in range(count):
            place = region + draw.randrange(448 * KIB // size) * size
            yield from durable(facts, f"{size // KIB}k", place, size)
    # SLC is empty again
    yield from empty_cache(facts, 10 * SECOND)


def far_and_near(facts: Facts, _: random.Random) -> Iterator[Row]:
    """Writes to far places, then to one: a state that does not depend on what was before."""
    for number in range(SPAN // FAR):
        yield from durable(facts, "far", number * FAR, 4 * KIB)
    for number in range(60):
        yield from durable(facts, "near", 340 * MIB + number * 4 * KIB, 4 * KIB)


def march(facts: Facts, _: random.Random) -> Iterator[Row]:
    """A write every 512 KiB, then every 256 KiB: merges have a period and a phase in addresses."""
    for step, mib in ((512 * KIB, 256), (256 * KIB, 64)):
        for number in range(mib * MIB // step):
            yield from durable(facts, "march", number * step, 4 * KIB)


def open_units(facts: Facts, _: random.Random) -> Iterator[Row]:
    """Writes to k places in turn: beyond the units that are open at once every write merges."""
    for places in range(1, 17):
        for turn in range(4):
            for place in range(places):
                offset = place * 32 * MIB + (places * 4 + turn) * 8 * KIB
                yield from durable(facts, f"{places} places", offset, 4 * KIB)


def merges(facts: Facts, _: random.Random) -> Iterator[Row]:
    """Writes to more places than can be open: samples of merges."""
    for turn in range(5):
        for place in range(40):
            yield from durable(facts, "merge", place * 24 * MIB + (100 + turn) * 8 * KIB, 4 * KIB)


def write_sizes(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """Writes by size, and across multiples of powers of two: program unit, program, bus."""
    region = 360 * MIB
    kinds = [(f"{op} {kib}k", op, 0, kib * KIB)
             for op in ("w", "f") if op == "w" or facts.fua
             for kib in (4, 8, 16, 32, 64, 128, 256, 512, 12, 20, 36, 68, 132)]  # fmt: skip
    kinds += [(f"{op} across {kib}k", op, -4 * KIB, 8 * KIB)
              for op in ("w", "f") if op == "w" or facts.fua for kib in (8, 16, 32, 64, 128)]  # fmt: skip
    for cell, op, shift, size in kinds:
        step = int(cell.split()[-1].removesuffix("k")) * KIB if shift else max(size, 128 * KIB)
        for _ in range(8):
            place = draw.randrange(1 if shift else 0, (MIB - size) // step + 1)
            yield Row(cell, op, region + place * step + shift, size, 20 * MS)


def flushes(facts: Facts, _: random.Random) -> Iterator[Row]:
    """FLUSH without and after writes, at once and when the device was idle: FLUSH, and the cache."""
    if not facts.write_cache:
        return
    region = 380 * MIB
    for _turn in range(20):
        yield Row("clean", "F", 0, 0, MS)
    for kib, number, turns in ((4, 1, 12), (4, 2, 6), (4, 4, 6), (4, 8, 5), (4, 16, 5), (4, 64, 2),
                               *((64, number, 3) for number in (4, 8, 12, 16)),
                               *((64, number, 2) for number in (24, 32, 48, 64))):  # fmt: skip
        for idle in (0, 50 * MS) if number in (1, 2, 4, 8, 16, 64) else (0,):
            for _turn in range(turns):
                yield Row("", "r", 0, 4 * KIB, 50 * MS)
                for n in range(number):
                    yield Row(f"{number} of {kib}k", "w", region + n * kib * KIB, kib * KIB, mean=True)
                after = " idle" if idle else ""
                yield Row(f"{number} of {kib}k flush{after}", "F", 0, 0, idle)


def bursts(facts: Facts, draw: random.Random) -> Iterator[Row]:
    """Writes after idle until they wait for the flash: cache size, the rate behind it, the map it reads."""
    for _ in range(4):
        yield from empty_cache(facts, 300 * MS)
        for number in range(24):
            yield Row(f"256k {number}", "w", 400 * MIB + number * 256 * KIB, 256 * KIB)
    yield from empty_cache(facts, 300 * MS)
    for number in range(1400):
        place = 420 * MIB + draw.randrange(256) * 4 * KIB
        yield Row(f"4k {number // 50}", "w", place, 4 * KIB, mean=True)
    yield from empty_cache(facts, 300 * MS)
    # without a cache the map is read before each write, which the march shows
    for mib in (8, 32, 128, 512) if facts.write_cache else ():
        for number in range(150):
            place = draw.randrange(mib * MIB // (4 * KIB)) * 4 * KIB
            yield Row(f"over {mib} MiB {number // 50}", "w", place, 4 * KIB, mean=True)
        yield Row(f"over {mib} MiB flush", "F", 0, 0)
    yield from empty_cache(facts, 300 * MS)


def discards(facts: Facts, _: random.Random) -> Iterator[Row]:
    """Discards of 1 MiB."""
    for number in range(10 if facts.discard else 0):
        yield Row("1m", "d", (440 + number) * MIB, MIB, MS)


EXPERIMENTS: dict[str, Callable[[Facts, random.Random], Iterator[Row]]] = {
    "sustained": sustained,
    "map reads": map_reads,
    "read sizes": read_sizes,
    "read pages": read_pages,
    "full log": full_log,
    "far and near": far_and_near,
    "march": march,
    "open units": open_units,
    "merges": merges,
    "write sizes": write_sizes,
    "flushes": flushes,
    "bursts": bursts,
    "discards": discards,
}


def lists(facts: Facts) -> dict[str, list[Row]]:
    """Return the rows of each experiment; the same at each call."""
    return {name: list(make(facts, random.Random(name))) for name, make in EXPERIMENTS.items()}


def written_bytes(rows: Iterable[Row]) -> int:
    """Return the bytes that these commands write."""
    return sum(row.size for row in rows if row.op in "wf")
