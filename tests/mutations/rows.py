"""How records of the probes are spoiled: values exchanged between them, pages by their owner."""

from __future__ import annotations

import numpy as np
from forged import Forged


def exchange(rows: np.ndarray, field: str, one: np.ndarray, other: np.ndarray) -> None:
    kept = rows[field][one].copy()
    rows[field][one] = rows[field][other]
    rows[field][other] = kept


def pages_of(run: Forged, owner: int) -> np.ndarray:
    places = run.of("pages")
    return places[run.records["flags"][places] == owner]


def renamed(rows: np.ndarray, field: str, places: np.ndarray, one: int, other: int) -> None:
    value = rows[field][places]
    rows[field][places] = np.where(value == one, other, np.where(value == other, one, value))
