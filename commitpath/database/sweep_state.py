"""Folder of a sweep's state (results/.sweep/); read one of its JSON files, None if missing or not whole.

It has (docs/how-to/sweeps.md) plan.json; done/<key>: the stored run; failed/<key>: the reason for none;
prepared/<group>; log/; lock.
"""

from pathlib import Path
from typing import Any

from base import strict_json
from base.paths import RESULTS

STATE = RESULTS / ".sweep"


def read_state(path: Path) -> dict[str, Any] | None:
    """Return a state file's content; None if it is missing or not whole."""
    try:
        # opening a FIFO would block
        content = strict_json.parse(path.read_text()) if path.is_file() else None
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
