"""What a power cut may take of a file that an engine has mapped from persistent memory: what it stored there
and did not clean, by its own calls (vfs.csv: copy, clean, delete).

A CPU's cache gives a line of 64 bytes to the memory when it is cleaned, or at any moment before, by itself;
and the memory takes 8 bytes at once. So of a line that was stored to since it was cleaned, each word of 8
bytes that was stored to is as it is, or as it was cleaned. (That it is as one of two stores between is not
tried.) What is being copied, or being cleaned, when the power is cut is not clean. A file that is deleted is
there or gone, as nothing syncs that.

Where the kernel alone fails, what was stored is in the CPU's caches yet. A reset may write them to the memory
or not, as a board's firmware has it; so what was not cleaned may be lost there, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from base.arrays import ints
from model.crash_points.policies import EVERYTHING, NOTHING, PREFIX, SUBSET, TORN
from model.crash_points.ran import Ran
from model.workloads import Random

# What becomes of what was not cleaned, by the names of what a device does; a torn line keeps some words.
CHOICES = (EVERYTHING, NOTHING, PREFIX, TORN, SUBSET)
# And of a file that was deleted: it is gone, or there as it was.
GONE, THERE = "gone", "there"
LINE, WORD = 64, 8
COPY, CLEAN, DELETE = "copy", "clean", "delete"
_CALLS = (COPY, CLEAN, DELETE)


@dataclass(frozen=True)
class State:
    """What a cut leaves of the file: as it is after so many of its calls, but for the words that are lost.

    losable: lines that might be lost. lost: line → a bit for each word.
    """

    calls: int
    policy: str
    losable: int
    lost: tuple[tuple[int, int], ...] = ()

    def words(self) -> str:
        """Its words of a board's plan, each behind a blank (workloads/trials/lines.h)."""
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
    """The calls to the file, in their order: `call` is each one's number in vfs.csv."""

    def __init__(self, calls: pl.DataFrame) -> None:
        self.call, self.begin, self.end = (ints(calls[name]) for name in ("call", "begin_ns", "end_ns"))
        self.op = calls["op"].cast(pl.String).to_list()
        of_bytes = (calls[name].fill_null(0).to_list() for name in ("offset", "bytes"))
        self.places: list[tuple[int, int]] = list(zip(*of_bytes, strict=True))
        self._first_delete = self.op.index(DELETE) if DELETE in self.op else len(self)
        # after so many calls nothing that was stored before so many of them may be lost
        self._clean = [0]
        found = dict[int, int]()
        for number in range(len(self)):
            self._go_on(found, number)
            self._clean.append(self._clean[-1] if found else number + 1)

    def __len__(self) -> int:
        return len(self.op)

    def same(self, other: Memory) -> bool:
        """Whether two runs called the file alike."""
        return (self.op, self.places) == (other.op, other.places)

    def place(self, call: int) -> int | None:
        """Where among them the call of a number is; None: nowhere."""
        found = np.flatnonzero(self.call == call)
        return int(found[0]) if found.size else None

    def calls(self, moment: int) -> int:
        """How many calls may have had an effect by then: a copy once it began, a clean when it is done."""
        came = int(np.searchsorted(self.begin, moment, side="right"))
        return came - bool(came and self.op[came - 1] == CLEAN and self.end[came - 1] > moment)

    def losable(self, moment: int) -> dict[int, int]:
        """The lines that a cut at that moment may take, in the order in which they were stored to: line → a
        bit for each word that was."""
        found, calls = dict[int, int](), self.calls(moment)
        for number in range(self._clean[calls], calls):
            self._go_on(found, number)
        return found

    def _go_on(self, found: dict[int, int], number: int) -> None:
        """Add to what may be lost what a call makes of it."""
        offset, size = self.places[number]
        if self.op[number] == COPY:
            _store(found, offset, size)
        elif self.op[number] == CLEAN:
            for line in range(offset // LINE, -(-(offset + size) // LINE)):
                found.pop(line, None)

    def deleted(self, moment: int) -> bool:
        """Whether the file's deletion had begun by then."""
        return self.calls(moment) > self._first_delete

    def choices(self, moment: int) -> tuple[str, ...]:
        """What differs at a moment, first that all is kept: where nothing may be lost there is no other."""
        if self.deleted(moment):
            return (GONE, THERE)
        return CHOICES if self.losable(moment) else (EVERYTHING,)

    def state(self, moment: int, policy: str, random: Random) -> State:
        """What a cut then leaves, by a choice."""
        losable = [] if self.deleted(moment) else [*self.losable(moment).items()]
        lost = _loses(losable, policy, random)
        return State(self.calls(moment), policy, len(losable), tuple(lost))

    def may_leave(self, moment: int, state: State) -> bool:
        """Whether a cut at that moment may leave this."""
        losable = self.losable(moment)
        return (
            self.calls(moment) == state.calls
            and (state.policy in (GONE, THERE)) == self.deleted(moment)
            and all(mask & ~losable.get(line, 0) == 0 for line, mask in state.lost)
        )


def memory(ran: Ran) -> Memory | None:
    """Return the calls to the file that a run had in persistent memory; None where it had none, or they were
    not noted."""
    calls = _noted(ran)
    return None if calls is None else Memory(calls)


def memories(ran: Ran) -> list[Memory]:
    """Return likewise, of a run with several databases, which each have such a file, one for each."""
    calls = _noted(ran)
    if calls is None:
        return []
    several = "database" in calls.columns
    return [Memory(part) for part in calls.partition_by("database")] if several else [Memory(calls)]


def _noted(ran: Ran) -> pl.DataFrame | None:
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
        return [one for one in losable if random.below(2)]
    torn = [(line, mask & random.below(1 << LINE // WORD)) for line, mask in losable]
    return [(line, mask) for line, mask in torn if mask]
