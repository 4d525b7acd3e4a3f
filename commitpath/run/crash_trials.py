"""Plan a run's crash trials (power cuts, kills, faults), and try them on boards that repeat the run.

Boards repeat exactly, so a plan made from a run's device log is valid on a board that repeats the run; the
analysis compares their logs (analysis/checks/trial_boards.py). One board per CPU.
"""

import gzip
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from base.errors import LabError
from commitpath.run import compressed_files
from commitpath.run.plan import PlannedRun
from images import artifacts, qemu, snapshot
from images.board import VirtualBoard
from images.cellrun import BEHIND, CellRun, RunOutput, pack_cell
from model.cell import Cell
from model.crash_points import cuts, faults, kill_points, moments, policies
from model.requested import expected

if TYPE_CHECKING:
    from analysis.recorded import Twin

# The plan of a board: further steps, and a line for each trial; compressed, as a board's input is limited.
PLAN = BEHIND
# Printed by a board before each trial (workloads/trials/trials.c).
ANNOUNCED = "trials: "
Planned = cuts.Trial | kill_points.Kill | faults.Fault
# Trials that may end their board: each repeats the run, and many are a fault of the instrument.
MOST_DEATHS = 20


@dataclass(frozen=True)
class Trials:
    """The results of a run's trials.

    died: trials that ended their board by a panic or a hang: trial number → the board's last line.
    seconds: wall time, with each board's repetition of the run.
    """

    outputs: list[RunOutput] = field(default_factory=list)
    died: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0


def read_unwatched(cell: Cell, ran: RunOutput) -> "Twin":
    """Return the records of an unwatched run. LabError if its device is cut and its log is incomplete."""
    from analysis.adapters import device_logs
    from analysis.recorded import read_twin

    with artifacts.work_folder() as work:
        ran.extract(work)
        compressed_files.compress_rendered(work / "raw/driver")
        records = read_twin(work / "raw", device_logs.find_reader(cell))
    if cell.crash != policies.PROCESS and (records.log is None or records.log.lost):
        raise LabError("the device's log is incomplete; cannot compute crash states")
    return records


def trials(cell: Cell, ran: RunOutput) -> list[Planned]:
    """Return the trials of an unwatched run. LabError for a fault of a command that it did not send."""
    records = read_unwatched(cell, ran)
    if cell.crash == policies.PROCESS:
        return [*kill_points.plan(cell, records.driver)]
    assert records.log is not None
    if cell.crash == policies.FAULT:
        planned = faults.plan(cell, records.log.entries, records.driver)
        there = {fault.fault for fault in planned}
        for fault in faults.requested(cell):
            if fault not in there:
                count = faults.commands(fault, records.log.entries, records.driver.window).size
                raise LabError(f"DEVICE_FAULTS={fault}: the run sent the device {count} such commands")
        return [*planned]
    return [*moments.plan(cell, records.log.entries, records.driver)]


def boards() -> int:
    """Return the number of boards of trials at a time."""
    return len(os.sched_getaffinity(0))


def shares(planned: list[Planned], boards: int) -> list[list[Planned]]:
    """Return the trials of each board: successive ones, as a device goes from one state to the next.

    A board is not used again after a device fault.
    """
    alone = any(isinstance(trial, faults.Fault) for trial in planned)
    size = 1 if alone else max(1, -(-len(planned) // boards))
    return [planned[begin : begin + size] for begin in range(0, len(planned), size)]


def fitting(run: PlannedRun, share: list[Planned]) -> list[list[Planned]]:
    """Halve a share until each part fits into a board's input (images/qemu.py, CELL_ITEM_BYTES).

    Each part repeats the run once more. A single trial is one part.
    """
    if len(share) < 2 or len(pack_cell("cell", payload(run, share))) <= qemu.CELL_ITEM_BYTES:
        return [share]
    middle = len(share) // 2
    return [*fitting(run, share[:middle]), *fitting(run, share[middle:])]


def payload(run: PlannedRun, share: list[Planned], *steps: str) -> dict[str, bytes]:
    """Return the files of a board of trials: the run's, and the plan of its share. steps: its last ones."""
    own = [name for name in expected.steps(run.cell, trials=True) if name == expected.TRIALS]
    lines = [" ".join(f"{name}:ok" for name in (*own, *steps)) + "\n", *(trial.line() for trial in share)]
    return {**run.files, PLAN: gzip.compress("".join(lines).encode(), mtime=0)}


def tried(
    board: VirtualBoard, prepared: Path, run: PlannedRun, planned: list[Planned], limit: float
) -> Trials:
    """Try all trials. If one ends its board, those before and after it are tried on new boards.

    Raises LabError if a board ends otherwise, or too many do.
    """
    begin = time.monotonic()
    todo = [part for share in shares(planned, boards()) for part in fitting(run, share)]
    outputs, died = list[RunOutput](), dict[int, str]()
    while todo:
        some, todo = todo[: boards()], todo[boards() :]
        sent = [payload(run, share) for share in some]
        for share, ending in zip(some, together(board, prepared, sent, limit), strict=True):
            if isinstance(ending, RunOutput):
                outputs.append(ending)
                continue
            number, died[ending[0]] = ending
            before = [trial for trial in share if trial.number < number]
            after = [trial for trial in share if trial.number > number]
            todo += [part for part in (before, after) if part]
        if len(died) > MOST_DEATHS:
            raise LabError(f"{len(died)} trials ended their boards; trial {number}: {died[number]}")
    return Trials(outputs, died, time.monotonic() - begin)


def together(
    board: VirtualBoard, prepared: Path, sent: list[dict[str, bytes]], limit: float
) -> list[RunOutput | tuple[int, str]]:
    """Run boards of trials at once; return each one's `ended`."""
    with ExitStack() as stack:
        runs = [stack.enter_context(board.cell_started(prepared, files, limit)) for files in sent]
        for run in runs:
            run.wait_start()
        return [ended(run) for run in runs]


def ended(run: CellRun) -> RunOutput | tuple[int, str]:
    """Return a board's output, or the trial in which it died and the board's last line."""
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
