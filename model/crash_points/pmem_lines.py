"""Compute what a power cut may leave of a file in persistent memory: CPU cache lines that were not cleaned.

By the engine's calls (vfs.csv: copy, clean, delete), stores that were not cleaned may be lost. A CPU's cache
writes a line of 64 bytes to the memory when it is cleaned, or at any time before; the memory takes 8 bytes at
once. In a line that was stored to since it was cleaned, each such word of 8 bytes is as last stored, or as
last cleaned. (A state between two stores is not tried.) A copy or clean in progress is not clean. A deleted
file is there or gone, as nothing syncs the deletion.

A crash of the kernel leaves stores in the CPU's caches. Whether a reset writes them to the memory depends on
the firmware, so they may be lost, too.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from base.arrays import ints
from model.crash_points.policies import EVERYTHING, NOTHING, PREFIX, SUBSET, TORN
from model.crash_points.recorded_run import Ran
from model.workloads import Random

# What happens to stores that were not cleaned, as in a device's policies; a torn line keeps some words.
CHOICES = (EVERYTHING, NOTHING, PREFIX, TORN, SUBSET)
# A deleted file is gone, or there as it was.
GONE, THERE = "gone", "there"
LINE, WORD = 64, 8
COPY, CLEAN, DELETE = "copy", "clean", "delete"
_CALLS = (COPY, CLEAN, DELETE)


@dataclass(frozen=True)
class State:
    """The file after a cut: as after so many of its calls, without the lost words.

    losable: number of lines that could be lost. lost: line → a bit for each word.
    """

    calls: int
    policy: str
    losable: int
    lost: tuple[tuple[int, int], ...] = ()

    def words(self) -> str:
        """Return its words of a board's plan, each after a blank (workloads/trials/pmem_lines.h)."""
        words, runs = [f"calls:{self.calls}"], list[list[int]]()
        for line, mask in sorted(self.lost):
            if runs and runs[-1][1:] == [line - 1, mask]:
                runs[-1][1] = line
            else:
                runs.append([line, line, mask])
        words += [
            f"lost:{first}:{mask:02x}" if first == last else f"lost:{first}-{last}:{mask:02x}"
            for first, last, mask in runs
        ]
        return "".join(f" {word}" for word in [*words, *([THERE] if self.policy == THERE else [])])


class Memory:
    """The calls to the file, in order; `call`: their numbers in vfs.csv."""

    def __init__(self, calls: pl.DataFrame) -> None:
        self.call, self.begin, self.end = (ints(calls[name]) for name in ("call", "begin_ns", "end_ns"))
        self.op = calls["op"].cast(pl.String).to_list()
        of_bytes = (calls[name].fill_null(0).to_list() for name in ("offset", "bytes"))
        self.places: list[tuple[int, int]] = list(zip(*of_bytes, strict=True))
        self._first_delete = self.op.index(DELETE) if DELETE in self.op else len(self)
        # number of calls → number of the first ones with stores that cannot be lost
        self._clean = [0]
        found = dict[int, int]()
        for number in range(len(self)):
            self._go_on(found, number)
            self._clean.append(self._clean[-1] if found else number + 1)

    def __len__(self) -> int:
        return len(self.op)

    def same(self, other: "Memory") -> bool:
        """Return whether two runs made the same calls."""
        return (self.op, self.places) == (other.op, other.places)

    def place(self, call: int) -> int | None:
        """Return the place of a call by its number in vfs.csv; None: not a call to the file."""
        found = np.flatnonzero(self.call == call)
        return int(found[0]) if found.size else None

    def calls(self, moment: int) -> int:
        """Return how many calls may have had an effect: a copy once it begins, a clean when it ends."""
        came = int(np.searchsorted(self.begin, moment, side="right"))
        return came - bool(came and self.op[came - 1] == CLEAN and self.end[came - 1] > moment)

    def losable(self, moment: int) -> dict[int, int]:
        """Return the lines that a cut may lose, in order of their stores: line → a bit for each word."""
        found, calls = dict[int, int](), self.calls(moment)
        for number in range(self._clean[calls], calls):
            self._go_on(found, number)
        return found

    def _go_on(self, found: dict[int, int], number: int) -> None:
        """Apply a call to the lines that may be lost."""
        offset, size = self.places[number]
        if self.op[number] == COPY:
            _store(found, offset, size)
        elif self.op[number] == CLEAN:
            for line in range(offset // LINE, -(-(offset + size) // LINE)):
                found.pop(line, None)

    def deleted(self, moment: int) -> bool:
        """Return whether the file's deletion had begun."""
        return self.calls(moment) > self._first_delete

    def choices(self, moment: int) -> tuple[str, ...]:
        """Return the choices that differ at a crash point; the first keeps everything."""
        if self.deleted(moment):
            return (GONE, THERE)
        return CHOICES if self.losable(moment) else (EVERYTHING,)

    def state(self, moment: int, policy: str, random: Random) -> State:
        """Return the state that a cut leaves by a choice."""
        losable = [] if self.deleted(moment) else [*self.losable(moment).items()]
        lost = _loses(losable, policy, random)
        return State(self.calls(moment), policy, len(losable), tuple(lost))

    def may_leave(self, moment: int, state: State) -> bool:
        """Return whether a cut may leave a state."""
        losable = self.losable(moment)
        return (
            self.calls(moment) == state.calls
            and (state.policy in (GONE, THERE)) == self.deleted(moment)
            and all(mask & ~losable.get(line, 0) == 0 for line, mask in state.lost)
        )


def memory(ran: Ran) -> Memory | None:
    """Return the calls to a run's file in persistent memory; None: it had none, or they were not recorded."""
    calls = _recorded(ran)
    return None if calls is None else Memory(calls)


def memories(ran: Ran) -> list[Memory]:
    """Return the calls to each file in persistent memory: a run has one for each database."""
    calls = _recorded(ran)
    if calls is None:
        return []
    several = "database" in calls.columns
    return [Memory(part) for part in calls.partition_by("database")] if several else [Memory(calls)]


def _recorded(ran: Ran) -> pl.DataFrame | None:
    if ran.vfs is None or ran.persistent is None or ran.persistent.is_empty():
        return None
    role = ran.persistent["file"][0]
    return ran.vfs.filter((pl.col("file") == role) & pl.col("op").cast(pl.String).is_in(_CALLS))


def _store(found: dict[int, int], offset: int, size: int) -> None:
    end = offset + size
    for line in range(offset // LINE, -(-end // LINE)):
        first, behind = max(offset, line * LINE), min(end, (line + 1) * LINE)
        words = range(first % LINE // WORD, (behind - 1) % LINE // WORD + 1)
        found[line] = found.get(line, 0) | sum(1 << word for word in words)


def _loses(losable: list[tuple[int, int]], policy: str, random: Random) -> list[tuple[int, int]]:
    """Return which of these lines lose which of their words."""
    if policy in (EVERYTHING, GONE, THERE):
        return []
    if policy == NOTHING:
        return losable
    if policy == PREFIX:
        return losable[random.below(len(losable)) :] if losable else []
    if policy == SUBSET:
        return [line for line in losable if random.below(2)]
    torn = [(line, mask & random.below(1 << LINE // WORD)) for line, mask in losable]
    return [(line, mask) for line, mask in torn if mask]
