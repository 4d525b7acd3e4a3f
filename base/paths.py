"""Where things are: the checkout, its data files, results."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "experiments"
RESULTS = ROOT / (os.environ.get("COMMITPATH_RESULTS") or "results")


def is_closed(folder: Path) -> bool:
    """Return whether a folder, or one above it, may not be read by this user. One that is not there is not
    closed."""
    try:
        os.scandir(folder).close()
        os.stat(f"{folder}/.")  # noqa: PTH116 - of what is in it: a Path has no such dot
    except PermissionError:
        return True
    except OSError:
        pass
    return False
