"""Compute a Cell's id, folder name and cell.json, an older cell's present id, and profiles changed since."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

from base import identity
from commitpath.cells.axes import axes
from commitpath.cells.profiles import device_profile, load_profile
from model import cell as cells
from model.cell import Cell, Profile

# The attribute in which a cell keeps its id once computed.
_ID = "_id"


def at_default(cell: Cell) -> list[str]:
    """Return the names of a cell's axes that are at their present default, sorted."""
    known = axes()
    return sorted(
        name for name, value in cell.axes() if name in known and value == known[name].spec["default"]
    )


def stored(cell: Cell) -> dict[str, Any]:
    """Return the document of a cell in cell.json, with its axes at their default."""
    return {**cell.document(), "at_default": at_default(cell)}


def complete(cell: Cell) -> Cell:
    """Return a stored cell with the axes that its document lacks, at their default."""
    return replace(cell, absent=frozenset()) if cell.absent else cell


def current_id(document: identity.Document, apart: Set[str] = frozenset()) -> str:
    """Return a stored cell's id with the present axes and defaults.

    An axis unknown here was at its default if the cell records that. apart: such axes that are part of the
    id, as other cells have another value at their default.
    """
    made = stored(complete(cells.from_document(document)))
    unknown = set(document.get("at_default", ())) - axes().keys() - apart
    return identity.cell_id({**made, "at_default": sorted({*made["at_default"], *unknown})})


def other_profiles(cell: Cell) -> list[str]:
    """Return the axes with a profile that differs from the present file of its name."""
    return [
        axis
        for axis in cell.profiles
        if axis in axes()
        and cell.value(axis) in axes()[axis].files()
        and identity.settings(cell.profiles[axis]) != identity.settings(_present(cell, axis))
    ]


def _present(cell: Cell, axis: str) -> Profile:
    """Return the present profile of an axis's value; a device's in the cell's state."""
    if axis == "device":
        return device_profile(cell.device, cell.device_state)
    return load_profile(axis, cell.value(axis))


def cell_id(cell: Cell) -> str:
    """Return the id of a cell that has all present axes; computed once for each object."""
    if _ID not in vars(cell):
        # the dataclass is frozen; the cached id follows from its fields, so it may be set
        vars(cell)[_ID] = identity.cell_id(stored(cell))
    return str(vars(cell)[_ID])


def cell_name(cell: Cell) -> str:
    """Return the name of a cell's folder."""
    return identity.cell_name(stored(cell))
