"""The files of a stored run that are evidence, and whether they are still what was stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from analysis import derived
from analysis.files import check_regular, read_json
from base.errors import BadInput

# what is said of a run whose host.json has no raw_sha256
NOT_HELD = "its raw files are not held: it was stored without their hashes"


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of raw/, twin/ and crash/, by its name below the run's folder.

    Raises BadInput at what is neither a regular file nor a folder.
    """
    places = (folder / part for part in ("raw", "twin", "crash"))
    paths = [path for place in places for path in place.rglob("*") if not path.is_dir()]
    for path in paths:
        check_regular(path)
    return {str(path.relative_to(folder)): _hash(path) for path in sorted(paths)}


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
    paths = [place, *place.rglob("*")]
    now = {str(path.relative_to(folder)): _hash(path) for path in paths if path.is_file()}
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
