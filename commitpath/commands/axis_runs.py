"""Run a cell with each value of an axis, and return a number of each run: for `make trend` and `bisect`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.errors import BadInputError, FileError, LabError
from commitpath.cells.axes import Axis, run_axes
from commitpath.cells.from_variables import make_cell
from commitpath.commands import board_commands
from commitpath.database.select import Run
from commitpath.host import ansible
from commitpath.results import expectations, metrics, run_folders, run_verdicts
from commitpath.results.expectations import Name
from model.cell import Cell


@dataclass(frozen=True)
class AxisRuns:
    """The cells of an axis's values, and what their runs need. entry: their board; file: FILE."""

    axis: Axis
    cells: Mapping[str, Cell]
    limit: float
    entry: Mapping[str, Any]
    file: str

    def title(self, value: str) -> str:
        """Return `SQLITE=3.46.1`."""
        return f"{self.axis.variable}={value}"

    def run(self, value: str) -> Run:
        """Run the cell of a value and return its run. Raises LabError if it fails or is rejected."""
        from analysis.__main__ import main as analyse
        from commitpath.run.experiment import run_once

        cell = self.cells[value]
        board_commands.make_ready([cell], self.entry, self.file)
        try:
            folder: Path = run_once(cell, self.limit)
        except (LabError, FileError) as error:
            raise LabError(f"{self.title(value)}: {error}") from error
        if analyse([str(folder), "--quiet"]):
            raise LabError(f"{self.title(value)}: {board_commands.why_failed(folder)}")
        return run_folders.read(folder)

    def number(self, value: str, run: Run, name: Name) -> float:
        """Return a number of the run of a value. Raises LabError if it has none."""
        if (measured := metrics.value(run, name.metric, name.op)) is None:
            raise LabError(f"{self.title(value)}: {run_verdicts.lacking(run, name)}")
        return measured


def planned(
    axis: Axis, values: Sequence[str], names: Sequence[Name], source: str, variables: dict[str, str]
) -> AxisRuns:
    """Return the checked runs of some values of an axis. source: the variable that gives the names.

    Raises BadInputError, also for a cell whose runs do not repeat or lack a number.
    """
    spec = run_axes()["limit"]
    limit = spec.parse(variables.pop("LIMIT", str(spec.spec["default"])), "LIMIT")
    # an unknown board first, before the needs of its cells
    entry = ansible.board(variables.get("BOARD", "virtual"))
    # all of them now: one that no board can run would end the search
    cells = {value: make_cell({**variables, axis.variable: value}) for value in values}
    runs = AxisRuns(axis, cells, limit, entry, variables.get("FILE", ""))
    for value, cell in cells.items():
        if cell.clock != "virtual":
            raise BadInputError(
                f"CLOCK={cell.clock}: its runs do not repeat, so a difference may be noise; use "
                "CLOCK=virtual, or make compare"
            )
        for name in names:
            if lacking := expectations.lacks(cell, name):
                raise BadInputError(f"{source}={name}: {runs.title(value)}: {lacking}")
    return runs
