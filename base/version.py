"""Read the project's version from CITATION.cff; stored formats change with it."""

import functools

from base.data import load_yaml
from base.paths import ROOT


@functools.cache
def version() -> str:
    """Return the version in CITATION.cff."""
    return str(load_yaml(ROOT / "CITATION.cff")["version"])
