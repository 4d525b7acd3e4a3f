"""Which cuts are tried: moments, and what the device does there with what it may lose.

A moment is before a command came (`before`), at the middle of its time (`during`), or as it was done
(`after`). Those before and after each FLUSH and each write with FUA are tried with each choice that the
device has, and seeded ones between; CUTS bounds them. First of all come the moments behind acknowledgements
that no FLUSH stands behind, or fewer than behind most (unsynced.py): no seed is to find them. All is drawn by
splitmix64 from CUT_SEED, so that the same cut has the same outcome everywhere.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from model.cell import Cell
from model.crash_points.durable import SECTOR, Cache, Commands
from model.crash_points.lines import State
from model.crash_points.policies import EVERYTHING, IN_ORDER, NOTHING, REORDERED, SUBSET, SUFFIX, SYSTEM, TORN
from model.crash_points.unsynced import Unsynced
from model.workloads import Random

# of what is tried besides FLUSH and FUA: one in so many
_BETWEEN = 3
_NONE_UNSYNCED = Unsynced([], [])
# the stream of the moments (model.workloads.Random); a trial's is its number and this
STREAM = 1 << 32
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Trial:
    """One cut. Sectors of a torn write are those that were kept, counted from its first."""

    number: int
    command: int  # the one that the moment is told by
    where: str  # before, during, after
    moment: int  # ns
    policy: str
    arrived: int  # commands that had come
    losable: int  # of these, changes that a cut may take
    lost: tuple[int, ...]
    torn: tuple[int, int] | None = None  # (command, sectors)
    # of a cell with persistent memory: the call that the moment is told by in the place of a command, by its
    # number in vfs.csv, and what the cut leaves there
    call: int | None = None
    memory: State | None = None

    @property
    def digest(self) -> str:
        """What a board says of its line."""
        return digest(self.line())

    def line(self) -> str:
        """Its line of the board's plan (workloads/trials/trials.c)."""
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
    """Return what a board says of a line of its plan: FNV-1a of 64 bits, in hex digits."""
    found = 0xCBF29CE484222325
    for byte in line.rstrip("\n").encode():
        found = (found ^ byte) * 0x100000001B3 & ((1 << 64) - 1)
    return f"{found:016x}"


def plan(
    cell: Cell,
    entries: np.ndarray,
    window: tuple[int, int],
    unsynced: Unsynced = _NONE_UNSYNCED,
) -> list[Trial]:
    """Return the trials of a run, by the moments of their cuts; window: the ns within which they are.

    The first has the device as the window began and the last as it ended, each with all that it was given:
    what they find is known.
    """
    commands = Commands(entries, Cache.from_profile(cell.profiles["device"]))
    first, last = commands.arrived(window[0]), commands.arrived(window[1])
    if first == last:
        return []
    policies = choices(cell, commands.cache)
    random = Random(cell.cut_seed, STREAM)
    marked = np.flatnonzero(commands.is_flush[first:last] | commands.is_fua[first:last]) + first
    pairs = [
        (command, where, policy)
        for command in marked.tolist()
        for where in ("before", "after")
        for policy in differing(commands, policies, moment(commands, command, where))
    ]
    most = max(cell.cuts - 2, 0)
    suspected = list[tuple[int, str, str]]()
    for behind, most_of_them in ((unsynced.none, most), (unsynced.fewer, most // _BETWEEN)):
        # the first policy keeps the least
        found = [
            (one, "before", differing(commands, policies, moment(commands, one, "before"))[0])
            for one in behind
        ]
        suspected += drawn(found, min(len(found), most_of_them, most - len(suspected)), random)
    most -= len(suspected)
    pairs = [pair for pair in pairs if pair not in suspected]
    pairs = drawn(pairs, min(len(pairs), most - most // _BETWEEN), random)
    between = [
        (
            first + random.below(last - first),
            ("before", "during", "after")[random.below(3)],
            policies[random.below(len(policies))],
        )
        for _ in range(most - len(pairs))
    ]
    ends = [(first, "before", EVERYTHING), (last - 1, "after", EVERYTHING)]
    chosen = sorted([*suspected, *pairs, *between], key=lambda one: (moment(commands, *one[:2]), *one))
    each = [ends[0], *chosen, ends[1]]
    return [_trial(commands, number, *one, Random(cell.cut_seed, number)) for number, one in enumerate(each)]


def choices(cell: Cell, cache: Cache) -> tuple[str, ...]:
    """Return what a device may do. Where only the kernel is gone, all that it was given arrives."""
    if cell.crash == SYSTEM:
        return (EVERYTHING,)
    return REORDERED if cache.reorders else IN_ORDER


def differing(commands: Commands, policies: tuple[str, ...], moment: int) -> tuple[str, ...]:
    """Return which choices differ at a moment: where nothing may be lost there is one."""
    return policies if commands.losable(moment).size else (EVERYTHING,)


def drawn(every: list[Drawn], count: int, random: Random) -> list[Drawn]:
    """Return some of a list, each at most once."""
    left = list(every)
    for place in range(count):
        other = place + random.below(len(left) - place)
        left[place], left[other] = left[other], left[place]
    return left[:count]


def moment(commands: Commands, command: int, where: str) -> int:
    """Return the ns of a cut before, during or after a command."""
    return time_of(int(commands.begin[command]), int(commands.end[command]), where)


def time_of(begin: int, end: int, where: str) -> int:
    """Return the moment that is told by a command that came and was done then, ns."""
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
    """Return which changes are lost, and what of the first of them is there all the same."""
    count = len(may_lose)
    if not count or policy == EVERYTHING:
        return [], None
    if policy == NOTHING:
        return may_lose, None
    if policy == SUBSET:
        return [one for one in may_lose if random.below(2)], None
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
