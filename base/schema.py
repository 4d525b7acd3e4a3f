"""experiments/schema.yml: every axis, and what data files must be."""

import functools
from collections.abc import Mapping
from typing import Any

from base.data import load_yaml
from base.paths import EXPERIMENTS


# Read once: a grid makes hundreds of cells. Nobody changes what it returns.
@functools.cache
def schema() -> dict[str, Any]:
    """experiments/schema.yml, as JSON Schema."""
    loaded: dict[str, Any] = load_yaml(EXPERIMENTS / "schema.yml")
    return loaded


def unused(cell: Mapping[str, Any]) -> set[str]:
    """The axes that say nothing in a cell, as it has a value of another one with which they apply to nothing
    (x-unless)."""
    return {
        axis
        for axis, spec in schema()["properties"].items()
        if any(cell.get(other) in values for other, values in spec.get("x-unless", {}).items())
    }
