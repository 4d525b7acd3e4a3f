"""Choose all power cuts of a run: at block commands (cuts.py), and at calls to a file in persistent memory.

Many commits to such memory send the device no command. At most a third of CUTS are before and after a FLUSH
or FUA write, a third at a call, each with the choices of device and memory there; the rest are at seeded
commands and calls. What the device keeps and what the memory keeps are drawn separately.
"""

import itertools
from typing import NamedTuple

import numpy as np

from model.cell import Cell
from model.crash_points import cuts, pmem_lines, unsynced
from model.crash_points.cuts import WHERE, Trial
from model.crash_points.durable import Cache, Commands
from model.crash_points.pmem_lines import Memory
from model.crash_points.policies import EVERYTHING
from model.crash_points.recorded_run import Ran
from model.workloads import Random


class Moment(NamedTuple):
    """A crash point. at: ns. place: number of the command in its log, or of the call to the file."""

    at: int
    is_call: bool
    place: int
    where: str

    @classmethod
    def of_command(cls, commands: Commands, number: int, where: str) -> "Moment":
        """Return the crash point at a command."""
        return cls(cuts.moment(commands, number, where), False, number, where)

    @classmethod
    def of_call(cls, memory: Memory, place: int, where: str) -> "Moment":
        """Return the crash point at a call."""
        times = int(memory.begin[place]), int(memory.end[place])
        return cls(cuts.time_of(*times, where), True, place, where)


def plan(cell: Cell, entries: np.ndarray, ran: Ran) -> list[Trial]:
    """Return the trials of a run in order of time; the first and the last lose nothing."""
    memory, commands = pmem_lines.memory(ran), Commands(entries, Cache.from_profile(cell.profiles["device"]))
    if memory is None or not len(memory):
        return cuts.plan(cell, entries, ran.window, unsynced.crash_points(cell, commands, ran))
    first, last = (commands.arrived(edge) for edge in ran.window)
    if first == last:
        return []
    policies, random = cuts.choices(cell, commands.cache), Random(cell.cut_seed, cuts.STREAM)

    def every(points: list[Moment]) -> list[tuple[Moment, str, str]]:
        return [
            (point, *both)
            for point in points
            for both in itertools.product(
                cuts.differing(commands, policies, point.at), memory.choices(point.at)
            )
        ]

    at_commands = [
        Moment.of_command(commands, number, where)
        for number in commands.barriers(first, last)
        for where in ("before", "after")
    ]
    at_calls = [Moment.of_call(memory, place, where) for place in range(len(memory)) for where in WHERE]
    most = max(cell.cuts - 2, 0)
    chosen = [
        point for points in (at_commands, at_calls) for point in cuts.drawn(every(points), most // 3, random)
    ]
    for _ in range(most - len(chosen)):
        place, where = random.below(last - first + len(memory)), WHERE[random.below(3)]
        point = (
            Moment.of_command(commands, first + place, where)
            if place < last - first
            else Moment.of_call(memory, place - (last - first), where)
        )
        open_lines = memory.choices(point.at)
        policy = policies[random.below(len(policies))]
        chosen.append((point, policy, open_lines[random.below(len(open_lines))]))
    begin = min(Moment.of_command(commands, first, "before"), Moment.of_call(memory, 0, "before"))
    end = max(
        Moment.of_command(commands, last - 1, "after"), Moment.of_call(memory, len(memory) - 1, "after")
    )
    ends = [(point, EVERYTHING, memory.choices(point.at)[0]) for point in (begin, end)]
    return [
        trial(commands, memory, number, *point, Random(cell.cut_seed, number))
        for number, point in enumerate([ends[0], *sorted(chosen), ends[1]])
    ]


def trial(
    commands: Commands, memory: Memory, number: int, point: Moment, policy: str, of_lines: str, random: Random
) -> Trial:
    """Return the trial at a crash point with a policy of the device and one of the memory."""
    arrived, may_lose = commands.arrived(point.at), commands.losable(point.at).tolist()
    lost, torn = cuts.loses(commands, may_lose, policy, random)
    command = max(arrived - 1, 0) if point.is_call else point.place
    of_cut = (number, command, point.where, point.at, policy, arrived, len(may_lose))
    call = int(memory.call[point.place]) if point.is_call else None
    return Trial(*of_cut, tuple(lost), torn, call, memory.state(point.at, of_lines, random))
