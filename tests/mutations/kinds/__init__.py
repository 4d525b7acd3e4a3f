"""The kinds of corruption: a function each, found in the modules of this folder.

A kind takes a Forged and a numpy Generator, and spoils the one at places drawn from the other. The
first line of its docstring is its row of the table.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from forged import Forged
from side import Absent

Kind = Callable[[Forged, np.random.Generator], None]
_kinds: dict[str, Kind] = {}


def kind(spoil: Kind) -> Kind:
    """Add a kind, by its function's name."""
    assert spoil.__name__ not in _kinds, spoil.__name__
    _kinds[spoil.__name__] = spoil
    return spoil


def told(name: str) -> str:
    """What a kind spoils, in words."""
    return (_kinds[name].__doc__ or "").strip().splitlines()[0].rstrip(".")


def find() -> dict[str, Kind]:
    """All kinds, by name, a module after the other."""
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"kinds.{path.stem}")
    return _kinds


def some(draw: np.random.Generator, places: np.ndarray) -> np.ndarray:
    """One of the places, a tenth, half or nine tenths of them, in their order. Raises Absent."""
    if not places.size:
        raise Absent("no such place")
    share = draw.choice([0.0, 0.1, 0.5, 0.9])
    number = max(1, int(places.size * share))
    return np.sort(draw.choice(places, number, replace=False))


def pairs(draw: np.random.Generator, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours among the places, to be exchanged: one pair or many. Raises Absent."""
    if places.size < 2:
        raise Absent("no two such places")
    first = some(draw, np.arange(places.size // 2)) * 2
    return places[first], places[first + 1]
