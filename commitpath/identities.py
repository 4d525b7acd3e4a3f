"""What a cell is called, and a stored one with the axes of now (base/identity.py has the rule)."""

from collections.abc import Mapping, Set
from typing import Any

from base import identity
from commitpath.axes import axes
from commitpath.profiles import load_profile


def at_default(cell: Mapping[str, Any]) -> list[str]:
    """The axes of a cell that are at their default, in alphabetical order."""
    return sorted(name for name, axis in axes().items() if cell.get(name) == axis.spec["default"])


def stored(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell as cell.json has it (base/identity.py)."""
    return {**cell, "at_default": at_default(cell)}


def complete(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A stored cell, with each axis that it lacks at its default."""
    return {**{name: axis.spec["default"] for name, axis in axes().items()}, **identity.settings(cell)}


def current_id(cell: Mapping[str, Any], apart: Set[str] = frozenset()) -> str:
    """The id that a stored cell has with the axes and defaults of now.

    An axis that is not known here was at its default if the cell says so. apart: such axes that are
    part of the id all the same, as others have another value at their default.
    """
    made = complete(cell)
    unknown = set(cell.get("at_default", ())) - axes().keys() - apart
    return identity.cell_id({**made, "at_default": sorted({*at_default(made), *unknown})})


def other_profiles(cell: Mapping[str, Any]) -> list[str]:
    """Axes whose profile asks for something else than the file of that name does here: the file
    was edited since the run, or the run was given another name."""
    known = axes()
    return [
        axis
        for axis in cell["profiles"]
        if axis in known
        and cell[axis] in known[axis].files()
        and identity.asked(cell["profiles"][axis]) != identity.asked(load_profile(axis, cell[axis]))
    ]


def cell_id(cell: Mapping[str, Any]) -> str:
    """The id of a cell that was made here, or is complete."""
    return identity.cell_id(stored(cell))


def cell_name(cell: Mapping[str, Any]) -> str:
    """The name of its folder."""
    return identity.cell_name(stored(cell))
