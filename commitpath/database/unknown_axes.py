"""Find axes of other labs' cells that are unknown here, and those with a default that a lab changed.

A cell's id leaves out axes at their default (base/identity.py). The default of an unknown axis is unknown,
and a lab may change it: then two cells have one id.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from commitpath.cells.axes import axes


def defaults(cell: Mapping[str, Any]) -> set[str]:
    """Return the axes of a stored cell that are unknown here and were at their default there."""
    return set(cell.get("at_default", ())) & cell.keys() - axes().keys()


def several_defaults(cells: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, set[str]]:
    """Return lab → the unknown axes with several default values in its cells.

    cells: (lab, stored cell) of each run. Per lab, so that no import changes another lab's ids.
    """
    values: dict[tuple[str, str], set[str]] = {}
    for lab, cell in cells:
        for axis in defaults(cell):
            values.setdefault((lab, axis), set()).add(json.dumps(cell[axis]))
    several: dict[str, set[str]] = {}
    for (lab, axis), different in values.items():
        if len(different) > 1:
            several.setdefault(lab, set()).add(axis)
    return several
