"""Which cuts are tried of a run whose engine has a file in persistent memory (lines.py).

Many commits give the device no command at all. So a moment is told by a command, as without such memory
(cuts.py), or by a call to that file: before, during or after it. A third of CUTS at most are before and
after a FLUSH or a write with FUA, a third at such a call, each with what device and memory may do there; the
rest are at seeded commands and calls. What the device keeps and what the memory does are drawn apart.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from model.cell import Cell
from model.crash_points import cuts, lines, unsynced
from model.crash_points.cuts import Trial
from model.crash_points.durable import Cache, Commands
from model.crash_points.lines import Memory
from model.crash_points.policies import EVERYTHING
from model.crash_points.ran import Ran
from model.workloads import Random

WHERE = ("before", "during", "after")


class Moment(NamedTuple):
    """at: ns. place: of the command in its log, or of the call among the file's."""

    at: int
    is_call: bool
    place: int
    where: str

    @classmethod
    def of_command(cls, commands: Commands, number: int, where: str) -> Moment:
        """Return that of a command."""
        return cls(cuts.moment(commands, number, where), False, number, where)

    @classmethod
    def of_call(cls, memory: Memory, place: int, where: str) -> Moment:
        """Return that of a call."""
        times = int(memory.begin[place]), int(memory.end[place])
        return cls(cuts.time_of(*times, where), True, place, where)


def plan(cell: Cell, entries: np.ndarray, ran: Ran) -> list[Trial]:
    """Return the trials of a run, by the moments of their cuts; the first has all as the run's window begins,
    and the last as it ends."""
    memory = lines.memory(ran)
    if memory is None or not len(memory):
        logged = Commands(entries, Cache.from_profile(cell.profiles["device"]))
        return cuts.plan(cell, entries, ran.window, unsynced.crash_points(cell, logged, ran))
    commands = Commands(entries, Cache.from_profile(cell.profiles["device"]))
    first, last = (commands.arrived(edge) for edge in ran.window)
    if first == last:
        return []
    policies, random = cuts.choices(cell, commands.cache), Random(cell.cut_seed, cuts.STREAM)

    def every(found: list[Moment]) -> list[tuple[Moment, str, str]]:
        return [
            (one, *both)
            for one in found
            for both in itertools.product(cuts.differing(commands, policies, one.at), memory.choices(one.at))
        ]

    marked = np.flatnonzero(commands.is_flush[first:last] | commands.is_fua[first:last]) + first
    of_commands = every(
        [Moment.of_command(commands, one, where) for one in marked.tolist() for where in ("before", "after")]
    )
    of_calls = every([Moment.of_call(memory, one, where) for one in range(len(memory)) for where in WHERE])
    most = max(cell.cuts - 2, 0)
    chosen = [
        one
        for pairs in (of_commands, of_calls)
        for one in cuts.drawn(pairs, min(len(pairs), most // 3), random)
    ]
    for _ in range(most - len(chosen)):
        place, where = random.below(last - first + len(memory)), WHERE[random.below(3)]
        one = (
            Moment.of_command(commands, first + place, where)
            if place < last - first
            else Moment.of_call(memory, place - (last - first), where)
        )
        open_lines = memory.choices(one.at)
        chosen.append((one, policies[random.below(len(policies))], open_lines[random.below(len(open_lines))]))
    begin = min(Moment.of_command(commands, first, "before"), Moment.of_call(memory, 0, "before"))
    closes = Moment.of_call(memory, len(memory) - 1, "after")
    end = max(Moment.of_command(commands, last - 1, "after"), closes)
    ends = [(one, EVERYTHING, memory.choices(one.at)[0]) for one in (begin, end)]
    each = [ends[0], *sorted(chosen), ends[1]]
    return [
        trial(commands, memory, number, *one, Random(cell.cut_seed, number))
        for number, one in enumerate(each)
    ]


def trial(
    commands: Commands, memory: Memory, number: int, one: Moment, policy: str, of_lines: str, random: Random
) -> Trial:
    """Return a trial: what its device and its memory keep, by a choice of each."""
    arrived, may_lose = commands.arrived(one.at), commands.losable(one.at).tolist()
    lost, torn = cuts.loses(commands, may_lose, policy, random)
    command = max(arrived - 1, 0) if one.is_call else one.place
    of_cut = (number, command, one.where, one.at, policy, arrived, len(may_lose))
    call = int(memory.call[one.place]) if one.is_call else None
    return Trial(*of_cut, tuple(lost), torn, call, memory.state(one.at, of_lines, random))
