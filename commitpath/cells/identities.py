"""What a cell is called, and a stored one with the axes of now (base/identity.py has the rule)."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

from base import identity
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from model import cell as cells
from model.cell import Cell


def at_default(cell: Cell) -> list[str]:
    """The axes of a cell that are at their default, in alphabetical order."""
    known = axes()
    return sorted(
        name for name, value in cell.axes() if name in known and value == known[name].spec["default"]
    )


def stored(cell: Cell) -> dict[str, Any]:
    """A cell as cell.json has it (base/identity.py)."""
    return {**cell.document(), "at_default": at_default(cell)}


def complete(cell: Cell) -> Cell:
    """A stored cell with the axes that its document lacks, at their default."""
    return replace(cell, absent=frozenset())


def current_id(document: identity.Document, apart: Set[str] = frozenset()) -> str:
    """The id that a stored cell has with the axes and defaults of now.

    An axis that is not known here was at its default if the cell says so. apart: such axes that are
    part of the id all the same, as others have another value at their default.
    """
    made = stored(complete(cells.from_document(document)))
    unknown = set(document.get("at_default", ())) - axes().keys() - apart
    return identity.cell_id({**made, "at_default": sorted({*made["at_default"], *unknown})})


def other_profiles(cell: Cell) -> list[str]:
    """Axes whose profile asks for something else than the file of that name does here: the file
    was edited since the run, or the run was given another name."""
    known = axes()
    return [
        axis
        for axis in cell.profiles
        if axis in known
        and cell.value(axis) in known[axis].files()
        and identity.settings(cell.profiles[axis]) != identity.settings(load_profile(axis, cell.value(axis)))
    ]


def cell_id(cell: Cell) -> str:
    """The id of a cell that was made here, or is complete."""
    return identity.cell_id(stored(cell))


def cell_name(cell: Cell) -> str:
    """The name of its folder."""
    return identity.cell_name(stored(cell))
