"""The files of a sweep's state, below results/.sweep/ (docs/how-to/sweeps.md).

plan.json; done/<key> names the stored run of a key; failed/<key> says why there is none;
prepared/<group>; log/; lock.
"""

from pathlib import Path
from typing import Any

from base import scratch, strict_json
from base.paths import RESULTS

STATE = RESULTS / ".sweep"


def write_whole(path: Path, text: str) -> None:
    """Write a file that appears, or is replaced, only when whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with scratch.whole(path) as part:
        part.write_text(text)


def read_state(path: Path) -> dict[str, Any] | None:
    """A state file's content; None where there is none or it is not whole."""
    try:
        # to open a FIFO waits
        content = strict_json.parse(path.read_text()) if path.is_file() else None
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
