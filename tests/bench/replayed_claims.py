"""The verdicts of a paper with other devices, by replaying the commands of its cells on the model.

Each cell runs once, on the device as it is. With another device a phase begins and ends as long after the
last command that had ended as in the run; what the host does while a command lasts is not overlapped with it.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from base.errors import BadInputError, LabError
from base.paths import RESULTS
from commitpath.cells.grid import Expanded
from commitpath.cells.identities import cell_id
from commitpath.commands.sensitivity import commands_of, replay
from commitpath.database.select import Run
from commitpath.papers import reproduce, request, robust
from commitpath.papers.paper import Claim
from commitpath.papers.variations import Variation
from commitpath.results.metrics import WHOLE
from commitpath.results.query import Results
from commitpath.sweep import drive, sweep_plan

Profile = Mapping[str, Any]
OPTIONS = ("PAPER", "FIGURE")
# the timed region is from the end of the one to the end of the other
BEFORE, CLOSE = "warm", "close"


@dataclass(frozen=True)
class Replayed:
    """A run with its device's log. phases: begin and end of each by name; the timed region is WHOLE."""

    run: Run
    commands: np.ndarray
    phases: Mapping[str, tuple[int, int]]

    def with_device(self, profile: Profile) -> Run:
        """Return the run with the rates that it has on another device."""
        recorded, (_, ends) = self.commands["end_ns"], replay(profile, self.commands)

        def moved(time: int) -> int:
            ended = np.flatnonzero(recorded <= time)
            last = ended[np.argmax(recorded[ended])] if ended.size else None
            return time if last is None else time + int(ends[last]) - int(recorded[last])

        tps = {}
        for name, rate in self.run.summary["tps"].items():
            start, end = self.phases[name]
            tps[name] = rate * (end - start) / (moved(end) - moved(start))
        return replace(self.run, summary={**self.run.summary, "tps": tps})


def read(run: Run) -> Replayed:
    """Read the log and the phases of a stored run."""
    folder = RESULTS / str(run.path)
    with (folder / "raw/driver/phases.csv").open(encoding="utf-8", newline="") as file:
        phases = {
            row["phase"]: (int(row["begin_ns"]), int(row["end_ns"]))
            for row in csv.DictReader(file)
            if row["phase"] != BEFORE
        }
    phases[WHOLE] = (min(begin for begin, _ in phases.values()), phases[CLOSE][1])
    if others := run.summary["tps"].keys() - phases.keys():
        raise LabError(f"{folder}: no phase of its own for {', '.join(sorted(others))}")
    return Replayed(run, commands_of(folder), phases)


@dataclass(frozen=True)
class Verdicts:
    """A paper's claims about rates, and the runs of the cells of their first readings on one device."""

    claims: Sequence[Claim]
    runs: Sequence[Replayed]
    lab: str

    def with_device(self, profile: Profile) -> dict[str, str]:
        """Return the verdict of each claim on a device."""
        results = Results([run.with_device(profile) for run in self.runs], self.lab)
        return {claim.id: robust.outcome(claim, Variation(), results).verdict for claim in self.claims}


def recorded(given: Mapping[str, str], device: str) -> Verdicts:
    """Return the claims of PAPER with their runs on a device; missing runs are made.

    With FIGURE only the claims that the cells of these figures decide.
    """
    wanted = request.read({**{name: given[name] for name in OPTIONS if name in given}, "DEVICE": device})
    claims = [c for c in robust.chosen(wanted) if c.metric == "tps" and robust.cells(c)]
    if not claims:
        raise BadInputError(f"PAPER={given['PAPER']}: none of these claims is about TPS")
    own = robust.runs(wanted, [Variation()], {claim.id for claim in claims})
    planned, _ = sweep_plan.merge([Expanded(own, [])])
    if drive.carry_out(planned, [], {}, whole=False):
        raise LabError(f"DEVICE={device}: a run failed, so the verdicts are not known")
    stored = reproduce.stored_results(planned)
    found = {cell_id(run.cell): stored.find(run.cell).runs[-1] for run in planned.values()}
    return Verdicts(claims, [read(run) for run in found.values()], stored.lab)
