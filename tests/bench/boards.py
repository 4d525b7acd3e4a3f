"""Run a cell on several boards at once, and time each part: seconds by the clock, and of the CPUs."""

import os
import resource
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from images.board import VirtualBoard
from images.cellrun import TIMED_REGION, RunOutput
from images.console import wait_for_line

LIMIT_SECONDS = 3600.0
# What a board says when a part is over.
RUN = {"the run": TIMED_REGION[1]}


@dataclass(frozen=True)
class Part:
    """Seconds that a part took: by the clock, and of all CPUs."""

    name: str
    wall: float
    cpu: float


class Parts(list[Part]):
    """Parts, each from the end of the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.last = (time.monotonic(), self.ended())

    @staticmethod
    def ended() -> float:
        """CPU seconds of this process, and of those it started that have ended."""
        return sum(
            sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )

    def add(self, name: str, running: list[int] | None = None) -> None:
        """What was done since the last is that part; running: the processes that are at work on it."""
        now = (time.monotonic(), self.ended() + sum(cpu_seconds(one) for one in running or []))
        self.append(Part(name, now[0] - self.last[0], now[1] - self.last[1]))
        self.last = now

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """The block is a part; what came before it is none."""
        self.last = (time.monotonic(), self.ended())
        yield
        self.add(name)


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process that runs."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def at_once(
    board: VirtualBoard, saved: Path, sent: list[dict[str, bytes]], last: str, marks: Mapping[str, str] = RUN
) -> tuple[list[RunOutput], Parts]:
    """Boards at once, to their ends: what they sent, and the parts of their time: `restore`, those that the
    console lines `marks` end, and `last`."""
    parts = Parts()
    with ExitStack() as stack:
        runs = [stack.enter_context(board.cell_started(saved, one, LIMIT_SECONDS)) for one in sent]
        processes = [run.process.pid for run in runs]
        for run in runs:
            run.wait_start()
        parts.add("restore", processes)
        for name, line in marks.items():
            for run in runs:
                wait_for_line(run.machine, line, LIMIT_SECONDS, run.process)
            parts.add(name, processes)
        outputs = [run.wait_end() for run in runs]
    parts.add(last)
    return outputs, parts
