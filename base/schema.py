"""experiments/schema.yml: the axes, and the JSON Schema of the data files."""

import functools
from collections.abc import Mapping
from typing import Any

from base.data import load_yaml
from base.paths import EXPERIMENTS


# Cached: a grid makes hundreds of cells. Callers do not modify the result.
@functools.cache
def schema() -> dict[str, Any]:
    """Return experiments/schema.yml, as JSON Schema."""
    loaded: dict[str, Any] = load_yaml(EXPERIMENTS / "schema.yml")
    return loaded


def unused(cell: Mapping[str, Any]) -> set[str]:
    """Return the axes without effect in a cell because of another axis's value (x-unless)."""
    return {
        axis
        for axis, spec in schema()["properties"].items()
        if any(cell.get(other) in values for other, values in spec.get("x-unless", {}).items())
    }
