"""The files of a stored run that are evidence, and whether they are still what was stored."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from analysis.run_files import derived
from analysis.run_files.reading import check_regular, check_unlinked, read_json
from base.errors import BadInput

# what is said of a run whose host.json has no raw_sha256
NOT_HELD = "its raw files are not held: it was stored without their hashes"


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of raw/, twin/ and crash/, by its name below the run's folder.

    Raises BadInput at what is neither a regular file nor a folder, or is a link.
    """
    places = [folder / part for part in ("raw", "twin", "crash")]
    names = [str(path.relative_to(folder)) for place in places for path in (place, *place.rglob("*"))]
    for name in names:
        check_unlinked(folder, name)
    files = sorted(name for name in names if os.path.lexists(folder / name) and not (folder / name).is_dir())
    return {name: hash_of(folder, name) for name in files}


def hash_of(folder: Path, name: str) -> str:
    """Return the SHA-256 of a file below a run's folder. Raises BadInput at what is no file of its own."""
    check_own(folder, name)
    return _hash(folder / name)


def check_own(folder: Path, name: str) -> None:
    """Raise BadInput at what is no regular file of a run's folder, but a link or below one, too."""
    check_unlinked(folder, name)
    check_regular(folder / name)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(folder: Path, part: str) -> None:
    """Raise BadInput if raw files of an analysed run are not as they were stored, or gone, or more.

    part: the name of a file below the run's folder, or of a folder, then all that is in it.
    manifest.json has the hashes of host.json, and those of a run that was stored without any.
    """
    derived.check(folder, "manifest.json")
    held = read_json(folder / "manifest.json").get("raw_sha256") or {}
    place = folder / part
    names = [str(path.relative_to(folder)) for path in (place, *place.rglob("*")) if path.is_file()]
    now = {name: hash_of(folder, name) for name in names}
    below = {name: value for name, value in held.items() if name == part or name.startswith(f"{part}/")}
    compare(folder, now, below)


def compare(folder: Path, now: Mapping[str, str], stored: Mapping[str, str]) -> None:
    """Raise BadInput at the first file that is not as it was stored, by the hashes of host.json."""
    for name in sorted({*now, *stored}):
        if name not in now:
            raise BadInput(folder / name, "", "it is gone", "what host.json says was stored (raw_sha256)")
        if now[name] != stored.get(name):
            wrong = "its content changed" if name in stored else "it was not stored with the run"
            raise BadInput(folder / name, "", wrong, "what host.json says was stored (raw_sha256)")
