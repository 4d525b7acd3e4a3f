"""Values of a cell as they are compared and shown, and the probes that it asks for."""

from typing import Any

from model.cell import Cell

# Axes of a cell that the driver reads back under their own name; the engine's are its module's.
AXES = ("checkpoint_every", "rows", "n", "value_size", "seed", "cache")


def word(value: Any) -> str:
    """Return a value as it is compared and shown: lower case, booleans as on and off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value).strip().lower()


def probes(cell: Cell) -> list[str]:
    """Return the probes that a cell asks for; empty with `none`."""
    asked = [name.strip() for name in str(cell.probes).split(",")]
    return [name for name in asked if name not in ("", "none")]
