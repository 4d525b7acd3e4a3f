"""Choose the power cuts of a run, most at a FLUSH or FUA write, and the writes that each loses; their plan.

First come the crash points of transactions with too few FLUSHes (unsynced.py), then those before and after
each FLUSH and FUA write with each policy of the device, then seeded ones; CUTS limits them. All are drawn by
splitmix64 from CUT_SEED, so that the same cut has the same outcome everywhere.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from model.cell import Cell
from model.crash_points.durable import SECTOR, Cache, Commands
from model.crash_points.pmem_lines import State
from model.crash_points.policies import EVERYTHING, IN_ORDER, NOTHING, REORDERED, SUBSET, SUFFIX, SYSTEM, TORN
from model.crash_points.unsynced import Unsynced
from model.workloads import Random

# share of the cuts that are not at a FLUSH or FUA write: one in so many
_BETWEEN = 3
_NONE_UNSYNCED = Unsynced([], [])
# the stream of the crash points (model.workloads.Random); a trial's stream is its number
STREAM = 1 << 32
WHERE = ("before", "during", "after")
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Trial:
    """One power cut: its command and time, and the changes that the device loses."""

    number: int
    command: int
    where: str  # before, during, after the command
    moment: int  # ns
    policy: str
    arrived: int  # commands that had arrived
    losable: int  # of these, changes that a cut may take
    lost: tuple[int, ...]
    torn: tuple[int, int] | None = None  # (command, sectors kept from its first on)
    # with persistent memory: the call (number in vfs.csv) that `where` refers to, if not to a command, and
    # the state of the memory
    call: int | None = None
    memory: State | None = None

    @property
    def digest(self) -> str:
        """Return the board's digest of its line."""
        return digest(self.line())

    def line(self) -> str:
        """Return its line of the board's plan (workloads/trials/trials.c)."""
        first = self.lost[0] if self.lost else self.arrived
        words = [str(self.number), str(first)]
        gone = iter(sorted({*self.lost, self.arrived}))
        begin = first
        for gap in gone:
            if begin < gap:
                words.append(str(begin) if gap == begin + 1 else f"{begin}-{gap - 1}")
            if self.torn and self.torn[0] == gap:
                words.append(f"{gap}:0+{self.torn[1]}")
            begin = gap + 1
        return " ".join(words) + (self.memory.words() if self.memory else "") + "\n"


def digest(line: str) -> str:
    """Return the digest that a board reports for a line of its plan: FNV-1a of 64 bits, in hex digits."""
    value = 0xCBF29CE484222325
    for byte in line.rstrip("\n").encode():
        value = (value ^ byte) * 0x100000001B3 & ((1 << 64) - 1)
    return f"{value:016x}"


def plan(
    cell: Cell, entries: np.ndarray, window: tuple[int, int], unsynced: Unsynced = _NONE_UNSYNCED
) -> list[Trial]:
    """Return the trials of a run in order of time; window: first and last ns.

    The first and the last trial lose nothing, at the begin and the end of the window: their outcome is known.
    """
    commands = Commands(entries, Cache.from_profile(cell.profiles["device"]))
    first, last = commands.arrived(window[0]), commands.arrived(window[1])
    if first == last:
        return []
    policies = choices(cell, commands.cache)
    random = Random(cell.cut_seed, STREAM)
    pairs = [
        (command, where, policy)
        for command in commands.barriers(first, last)
        for where in ("before", "after")
        for policy in differing(commands, policies, moment(commands, command, where))
    ]
    most = max(cell.cuts - 2, 0)
    suspected = list[tuple[int, str, str]]()
    for numbers, limit in ((unsynced.none, most), (unsynced.fewer, most // _BETWEEN)):
        # the first policy keeps the least
        points = [
            (command, "before", differing(commands, policies, moment(commands, command, "before"))[0])
            for command in numbers
        ]
        suspected += drawn(points, min(limit, most - len(suspected)), random)
    most -= len(suspected)
    pairs = [pair for pair in pairs if pair not in suspected]
    pairs = drawn(pairs, most - most // _BETWEEN, random)
    between = [
        (first + random.below(last - first), WHERE[random.below(3)], policies[random.below(len(policies))])
        for _ in range(most - len(pairs))
    ]
    chosen = sorted([*suspected, *pairs, *between], key=lambda point: (moment(commands, *point[:2]), *point))
    points = [(first, "before", EVERYTHING), *chosen, (last - 1, "after", EVERYTHING)]
    return [
        _trial(commands, number, *point, Random(cell.cut_seed, number)) for number, point in enumerate(points)
    ]


def choices(cell: Cell, cache: Cache) -> tuple[str, ...]:
    """Return the policies of a device. If only the kernel crashes, it keeps everything."""
    if cell.crash == SYSTEM:
        return (EVERYTHING,)
    return REORDERED if cache.reorders else IN_ORDER


def differing(commands: Commands, policies: tuple[str, ...], moment: int) -> tuple[str, ...]:
    """Return the policies that differ at a crash point: one, if nothing can be lost there."""
    return policies if commands.losable(moment).size else (EVERYTHING,)


def drawn(every: list[Drawn], count: int, random: Random) -> list[Drawn]:
    """Return `count` of a list, or all if it is shorter, each at most once."""
    left = list(every)
    for place in range(min(count, len(left))):
        other = place + random.below(len(left) - place)
        left[place], left[other] = left[other], left[place]
    return left[:count]


def moment(commands: Commands, command: int, where: str) -> int:
    """Return the time of a cut before, during or after a command, ns."""
    return time_of(int(commands.begin[command]), int(commands.end[command]), where)


def time_of(begin: int, end: int, where: str) -> int:
    """Return the time of a cut before, during or after what began and ended then, ns."""
    return {"before": begin - 1, "during": (begin + end) // 2, "after": end}[where]


def _trial(commands: Commands, number: int, command: int, where: str, policy: str, random: Random) -> Trial:
    at = moment(commands, command, where)
    may_lose = commands.losable(at).tolist()
    lost, torn = loses(commands, may_lose, policy, random)
    of_cut = (number, command, where, at, policy, commands.arrived(at), len(may_lose))
    return Trial(*of_cut, tuple(lost), torn)


def loses(
    commands: Commands, may_lose: list[int], policy: str, random: Random
) -> tuple[list[int], tuple[int, int] | None]:
    """Return the lost changes and, if the first of them is torn, (its number, sectors kept)."""
    count = len(may_lose)
    if not count or policy == EVERYTHING:
        return [], None
    if policy == NOTHING:
        return may_lose, None
    if policy == SUBSET:
        return [number for number in may_lose if random.below(2)], None
    kept = random.below(count)
    if policy == SUFFIX:
        return may_lose[: count - kept], None
    lost = may_lose[kept:]
    if policy == TORN and commands.is_write[lost[0]]:
        units = sorted({commands.cache.block, 4096, commands.cache.unit})
        sectors = units[random.below(len(units))] // SECTOR
        whole = -(-int(commands.sectors[lost[0]]) // sectors)
        if whole > 1:
            return lost, (lost[0], sectors * (1 + random.below(whole - 1)))
    return lost, None
