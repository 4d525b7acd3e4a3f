"""Normalise values of settings for comparison (booleans as on and off); list a cell's probes."""

from typing import Any

from model.cell import Cell

# Axes that the driver reads back under the same name, in addition to the engine's settings.
AXES = (
    *("checkpoint_every", "rows", "n", "value_size", "seed", "cache"),
    *("request_distribution", "insert_order", "value_size_distribution", "batch"),
)


def word(value: Any) -> str:
    """Return a value as it is compared and shown: lower case, booleans as on and off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value).strip().lower()


def probes(cell: Cell) -> list[str]:
    """Return a cell's probes; empty with `none`."""
    names = [name.strip() for name in cell.probes.split(",")]
    return [name for name in names if name not in ("", "none")]
