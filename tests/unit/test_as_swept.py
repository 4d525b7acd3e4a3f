"""A grid is not taken as swept if its sweep had an unknown axis or an edited profile."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from commitpath.cells.grid import expand
from commitpath.results.as_swept import as_swept
from model.cell import Cell


def newer(cell: Cell) -> Cell:
    """As another lab's, with an axis that this version does not have."""
    return replace(cell, others={"zeta": 3})


def edited(cell: Cell) -> Cell:
    """As before the device's profile was edited."""
    device = {**cell.profiles["device"], "zeta": 3}
    return replace(cell, profiles={**cell.profiles, "device": device})


@pytest.mark.parametrize("other", [newer, edited])
def test_a_sweep_of_other_cells_changes_nothing(other: Any) -> None:
    grid = expand("quick")
    run = SimpleNamespace(grids={"quick"}, cell=other(grid.runs[0].cell), facts={"lab": "here", "run": "1"})
    results = SimpleNamespace(counted=[run], lab="here", swept=lambda *_: {})
    assert as_swept("quick", grid, cast(Any, results)) == (grid, [])
