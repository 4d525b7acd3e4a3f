"""Axes that other labs' runs have and that are not known here.

A cell's id leaves an axis out that was at its default there (base/identity.py). What that default was
nobody here knows, and a lab may change it: then two cells have one id.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from commitpath.cells.axes import axes


def defaults(cell: Mapping[str, Any]) -> set[str]:
    """The axes of a stored cell that are not known here and were at their default there."""
    return set(cell.get("at_default", ())) & cell.keys() - axes().keys()


def several_defaults(cells: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, set[str]]:
    """Lab → the axes not known here of which its cells have several values, each at its default.

    cells: (lab, stored cell) of each run. A lab's own affair: no import changes what another lab's
    runs are called.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for lab, cell in cells:
        for axis in defaults(cell):
            found.setdefault((lab, axis), set()).add(json.dumps(cell[axis]))
    several: dict[str, set[str]] = {}
    for (lab, axis), values in found.items():
        if len(values) > 1:
            several.setdefault(lab, set()).add(axis)
    return several
