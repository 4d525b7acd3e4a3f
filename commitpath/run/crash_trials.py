"""What power cuts leave of a run: boards that do the run again, unwatched, and then trials of it. Where the
driver is killed each trial is the run, up to its moment.

Boards repeat to the bit, so a plan that was made from a run's device log holds on a board that does the
same run again; the analysis compares their logs (analysis/checks/crash.py). One board for each CPU.
"""

import gzip
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from analysis.adapters import device_logs
from analysis.recorded import Twin, read_twin
from base.errors import LabError
from commitpath.run import compressed_files
from commitpath.run.plan import PlannedRun
from images import artifacts, qemu, snapshot
from images.board import VirtualBoard
from images.cellrun import CellRun, RunOutput, pack_cell
from model.cell import Cell
from model.crash_points import cuts, kill_points, moments, policies

# The file that a board of trials gets beside a run's: its lines, compressed, as a board takes few bytes.
PLAN = "trials.gz"
# What a board says before each trial (workloads/trials/trials.c).
ANNOUNCED = "trials: "
Planned = cuts.Trial | kill_points.Kill
# Trials that may end their board: each costs the run once more, and many are no finding but a fault.
MOST_DEATHS = 20


@dataclass(frozen=True)
class Trials:
    """What became of a run's trials.

    died: number of each that ended its board, by a panic or by no end → what the board said last. seconds: of
    wall time, with the run that each board does again.
    """

    outputs: list[RunOutput] = field(default_factory=list)
    died: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0


def left(cell: Cell, ran: RunOutput) -> Twin:
    """What a run that was not watched left. LabError where its device is cut and that one's log does not
    have all of it."""
    with artifacts.work_folder() as work:
        ran.extract(work)
        compressed_files.rendered(work / "raw/driver")
        found = read_twin(work / "raw", device_logs.find_reader(cell))
    if cell.crash != policies.PROCESS and (found.log is None or found.log.lost):
        raise LabError("the device's log does not have all of the run: there is no telling what a cut takes")
    return found


def trials(cell: Cell, ran: RunOutput) -> list[Planned]:
    """The trials of a run that was not watched, from what it left."""
    found = left(cell, ran)
    if cell.crash == policies.PROCESS:
        return [*kill_points.plan(cell, found.driver)]
    assert found.log is not None
    return [*moments.plan(cell, found.log.entries, found.driver)]


def boards() -> int:
    """Boards of trials at a time."""
    return len(os.sched_getaffinity(0))


def shares(planned: list[Planned], boards: int) -> list[list[Planned]]:
    """The trials of each board: neighbours, as a device goes from one state to the next."""
    size = max(1, -(-len(planned) // boards))
    return [planned[begin : begin + size] for begin in range(0, len(planned), size)]


def fitting(run: PlannedRun, share: list[Planned]) -> list[list[Planned]]:
    """A share in parts that each fit into a board (images/qemu.py, CELL_ITEM_BYTES), halved where they do
    not: each part has a board do the run once more. A single trial is one part."""
    if len(share) < 2 or len(pack_cell("cell", payload(run, share))) <= qemu.CELL_ITEM_BYTES:
        return [share]
    middle = len(share) // 2
    return [*fitting(run, share[:middle]), *fitting(run, share[middle:])]


def payload(run: PlannedRun, share: list[Planned]) -> dict[str, bytes]:
    """What a board of trials is sent."""
    return {**run.files, PLAN: gzip.compress("".join(one.line() for one in share).encode(), mtime=0)}


def tried(
    board: VirtualBoard, prepared: Path, run: PlannedRun, planned: list[Planned], limit: float
) -> Trials:
    """Try all trials. Where one ends its board, those before and behind it are tried on boards of their own,
    from the same bytes. LabError where a board ends otherwise, or too many do."""
    begin = time.monotonic()
    todo = [part for share in shares(planned, boards()) for part in fitting(run, share)]
    outputs, died = list[RunOutput](), dict[int, str]()
    while todo:
        some, todo = todo[: boards()], todo[boards() :]
        for share, ending in zip(
            some, together(board, prepared, [payload(run, one) for one in some], limit), strict=True
        ):
            if isinstance(ending, RunOutput):
                outputs.append(ending)
                continue
            number, died[ending[0]] = ending
            parts = [
                [trial for trial in share if trial.number < number],
                [trial for trial in share if trial.number > number],
            ]
            todo += [part for part in parts if part]
        if len(died) > MOST_DEATHS:
            raise LabError(f"{len(died)} trials ended their boards; trial {number}: {died[number]}")
    return Trials(outputs, died, time.monotonic() - begin)


def together(
    board: VirtualBoard, prepared: Path, sent: list[dict[str, bytes]], limit: float
) -> list[RunOutput | tuple[int, str]]:
    """Boards of trials at once: of each what it sent, or the trial that it died in and what it said last."""
    with ExitStack() as stack:
        runs = [stack.enter_context(board.cell_started(prepared, one, limit)) for one in sent]
        for run in runs:
            run.wait_start()
        return [ended(run) for run in runs]


def ended(run: CellRun) -> RunOutput | tuple[int, str]:
    """What a board of trials sent, or the trial that it died in and what it said last."""
    try:
        return run.wait_end()
    except snapshot.SnapshotError:
        raise
    except LabError:
        log = run.machine.folder / "serial.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        numbers = [line.removeprefix(ANNOUNCED) for line in lines if line.startswith(ANNOUNCED)]
        if not numbers or not numbers[-1].isdecimal():
            raise
        return int(numbers[-1]), run.machine.serial_tail()
