"""experiments/schema.yml: every axis, and what data files must be."""

import functools
from typing import Any

from base.data import load_yaml
from base.paths import EXPERIMENTS


# Read once: a grid makes hundreds of cells. Nobody changes what it returns.
@functools.cache
def schema() -> dict[str, Any]:
    """experiments/schema.yml, as JSON Schema."""
    loaded: dict[str, Any] = load_yaml(EXPERIMENTS / "schema.yml")
    return loaded
