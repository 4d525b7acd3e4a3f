"""The files of a stored run that are evidence, and whether they are still what was stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from base.errors import BadInput

# what is said of a run whose host.json has no raw_sha256
NOT_HELD = "its raw files are not held: it was stored without their hashes"


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of raw/ and twin/, by its name below the run's folder."""
    found = {}
    paths = [path for part in ("raw", "twin") for path in (folder / part).rglob("*") if path.is_file()]
    for path in sorted(paths):
        with path.open("rb") as file:
            found[str(path.relative_to(folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def compare(folder: Path, now: Mapping[str, str], stored: Mapping[str, str]) -> None:
    """Raise BadInput at the first file that is not as it was stored, by the hashes of host.json."""
    for name in sorted({*now, *stored}):
        if name not in now:
            raise BadInput(folder / name, "", "it is gone", "what host.json says was stored (raw_sha256)")
        if now[name] != stored.get(name):
            wrong = "its content changed" if name in stored else "it was not stored with the run"
            raise BadInput(folder / name, "", wrong, "what host.json says was stored (raw_sha256)")
