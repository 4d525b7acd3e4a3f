"""Load experiments/schema.yml: the axes, and the JSON Schema of the data files."""

import functools
from typing import Any

from base.data import load_yaml
from base.paths import EXPERIMENTS


# Cached: a grid makes hundreds of cells. Callers do not modify the result.
@functools.cache
def schema() -> dict[str, Any]:
    """Return experiments/schema.yml, as JSON Schema."""
    loaded: dict[str, Any] = load_yaml(EXPERIMENTS / "schema.yml")
    return loaded
