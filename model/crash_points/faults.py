"""Plan the trials of DEVICE_FAULTS: in each, the device fails one command, on a board of its own.

`KIND:N` is the Nth command of the kind's operation in the timed region. experiments/schema.yml has the kinds.
"""

from dataclasses import dataclass

import numpy as np

from base.arrays import Ints
from model.block_operations import FLUSH, OP, READ, WRITE
from model.cell import Cell
from model.crash_points import cuts
from model.crash_points.policies import EVERYTHING
from model.crash_points.recorded_run import Ran

# Operations of the kinds that are not a fault of a write.
OPERATIONS = {"eio-read": READ, "eio-flush": FLUSH}


@dataclass(frozen=True)
class Fault:
    """One fault. command, sector: of the log of the run that was timed; moment: when it began, ns."""

    number: int
    fault: str
    command: int
    sector: int
    moment: int

    @property
    def digest(self) -> str:
        """Return the board's digest of its line."""
        return cuts.digest(self.line())

    def line(self) -> str:
        """Return its line of the board's plan (workloads/trials/kill.h)."""
        return f"{self.number} {self.fault}\n"

    def crash_point(self) -> cuts.Trial:
        """Return the crash point at its command."""
        at = (self.number, self.command, "before", self.moment, EVERYTHING)
        return cuts.Trial(*at, arrived=self.command, losable=0, lost=())


def requested(cell: Cell) -> list[str]:
    """Return the faults that a cell requests."""
    return cell.device_faults.split(",")


def commands(fault: str, entries: np.ndarray, window: tuple[int, int]) -> Ints:
    """Return the numbers of the commands that a fault counts; window: first and last ns."""
    begin = entries["begin_ns"].astype(np.int64)
    counts = (entries["operation"] & OP) == OPERATIONS.get(fault.partition(":")[0], WRITE)
    return np.flatnonzero(counts & (begin >= window[0]) & (begin < window[1]))


def plan(cell: Cell, entries: np.ndarray, ran: Ran) -> list[Fault]:
    """Return the trials of a run, without faults of commands that it did not send."""
    trials = []
    for number, fault in enumerate(requested(cell)):
        numbers = commands(fault, entries, ran.window)
        count = int(fault.partition(":")[2])
        if count <= numbers.size:
            command = int(numbers[count - 1])
            sector, moment = (int(entries[name][command]) for name in ("sector", "begin_ns"))
            trials.append(Fault(number, fault, command, sector, moment))
    return trials
