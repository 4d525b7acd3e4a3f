"""Paths of the checkout, experiments/, the cache and the results; test whether a folder may be read."""

import os
import sys
from pathlib import Path

# This Python, without settings that the user's environment has for others, such as PYTHONPATH.
PYTHON = (sys.executable, "-E")
ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "experiments"
CACHE = ROOT / (os.environ.get("COMMITPATH_CACHE") or ".cache")
RESULTS = ROOT / (os.environ.get("COMMITPATH_RESULTS") or "results")


def is_closed(folder: Path) -> bool:
    """Return whether this user may not read a folder or one above it; False if it does not exist."""
    try:
        os.scandir(folder).close()
        os.stat(f"{folder}/.")  # noqa: PTH116 - a Path drops the dot
    except PermissionError:
        return True
    except OSError:
        pass
    return False
