"""Expand a grid with the settings, seeds and boards of its newest sweep, found in the results database."""

from collections.abc import Mapping

from base.errors import BadInputError
from commitpath.cells.axes import axes
from commitpath.cells.grid import Expanded, expand
from commitpath.results.query import Results, unsampled
from model.cell import SAMPLED, Cell


def as_swept(name: str, grid: Expanded, results: Results) -> tuple[Expanded, list[str]]:
    """Return a grid (name) as it was swept, and notes; `results` then has the seeds and boards of its sweep.

    If none of its cells was swept, but the grid was with other settings (N=… of `make sweep`), its cells
    have those.
    """
    notes = list[str]()
    if given := swept_with(grid, results):
        try:
            grid = expand(name, given)
        except BadInputError:
            return grid, notes
        words = " ".join(f"{variable}={value}" for variable, value in given.items())
        notes.append(f"GRID={name} was swept with {words}")
    results.samples = results.swept({run.grid for run in grid.runs}, [run.cell for run in grid.runs])
    return grid, notes


def swept_with(grid: Expanded, results: Results) -> Mapping[str, str]:
    """Return the variables of the `make sweep` that made a grid's newest cells; none if its own are there."""
    names = {run.grid for run in grid.runs}
    swept = [run for run in results.counted if run.grids & names]
    # a sweep of this lab comes before shipped runs
    swept = [run for run in swept if run.facts["lab"] == results.lab] or swept
    if not swept or {unsampled(run.cell) for run in grid.runs} & {unsampled(run.cell) for run in swept}:
        return {}
    newest = max(swept, key=lambda run: run.facts["run"]).cell
    nearest = min((run.cell for run in grid.runs), key=lambda cell: len(differences(cell, newest)))
    given = differences(nearest, newest)
    # without a variable that makes its cells (an axis of another version, an edited profile or grid),
    # the cells are those that were not run
    return given if given.keys() <= {axis.variable for axis in axes().values()} else {}


def differences(cell: Cell, other: Cell) -> Mapping[str, str]:
    """Return the variables of another cell that differ, but for its sample; an unknown axis by its name."""
    return {
        axes()[name].variable if name in axes() else name: str(value)
        for name, value in other.axes()
        if name not in SAMPLED and not (cell.has(name) and str(cell.value(name)) == str(value))
    }
