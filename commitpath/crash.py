"""What power cuts leave of a run: boards that do the run again, unwatched, and then trials of it.

Boards repeat to the bit, so a plan that was made from a run's device log holds on a board that does the
same run again; the analysis compares their logs (analysis/checks/crash.py). One board for each CPU.
"""

import gzip
import os
from collections.abc import Mapping
from typing import Any

from analysis import devices
from analysis.crash import cuts
from analysis.run import read_twin
from base.errors import LabError
from commitpath import packed
from commitpath.plan import PlannedRun
from images import artifacts
from images.cellrun import RunOutput

# The file that a board of trials gets beside a run's: its lines, compressed, as a board takes few bytes.
PLAN = "trials.gz"


def trials(cell: Mapping[str, Any], ran: RunOutput) -> list[cuts.Trial]:
    """The trials of a run that was not watched, from what it left."""
    with artifacts.work_folder() as work:
        ran.extract(work)
        packed.rendered(work / "raw/driver")
        left = read_twin(work / "raw", devices.of(cell))
    if left.log is None or left.log.lost:
        raise LabError("the device's log does not have all of the run: there is no telling what a cut takes")
    return cuts.plan(cell, left.log.entries, left.driver.window)


def shares(planned: list[cuts.Trial], boards: int) -> list[list[cuts.Trial]]:
    """The trials of each board: neighbours, as a device goes from one state to the next."""
    size = max(1, -(-len(planned) // boards))
    return [planned[begin : begin + size] for begin in range(0, len(planned), size)]


def payloads(run: PlannedRun, planned: list[cuts.Trial]) -> list[dict[str, bytes]]:
    """What each board of trials is sent."""
    return [
        {**run.files, PLAN: gzip.compress("".join(cuts.lines(share)).encode(), mtime=0)}
        for share in shares(planned, len(os.sched_getaffinity(0)))
    ]
