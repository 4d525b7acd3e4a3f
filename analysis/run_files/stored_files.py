"""Compare a stored run's raw files with their hashes; refuse changed, missing and added ones."""

from collections.abc import Mapping
from pathlib import Path

from analysis.run_files import derived
from analysis.run_files.reading import read_json
from base.errors import FileError
from base.raw_files import check_regular, check_unlinked, sha256

# message for a run without raw_sha256 in host.json
NOT_HELD = "its raw files are not held: it was stored without their hashes"


def check_own(folder: Path, name: str) -> None:
    """Raise FileError unless the name is a regular file, neither a link nor below one."""
    check_unlinked(folder, name)
    check_regular(folder / name)


def check(folder: Path, part: str) -> None:
    """Raise FileError if raw files of an analysed run were changed, removed or added.

    part: a file or folder below the run's folder; a folder includes all files in it.
    The hashes are those of manifest.json, which also covers runs stored without hashes.
    """
    derived.check(folder, "manifest.json")
    held = read_json(folder / "manifest.json").get("raw_sha256") or {}
    place = folder / part
    names = [str(path.relative_to(folder)) for path in (place, *place.rglob("*")) if path.is_file()]
    for name in names:
        check_own(folder, name)
    now = {name: sha256(folder / name) for name in names}
    below = {name: value for name, value in held.items() if name == part or name.startswith(f"{part}/")}
    compare(folder, now, below)


def compare(folder: Path, now: Mapping[str, str], stored: Mapping[str, str]) -> None:
    """Raise FileError at the first file that differs from its stored hash, is gone, or was added."""
    for name in sorted({*now, *stored}):
        if now.get(name) != stored.get(name):
            changed = "its content changed" if name in stored else "it was not stored with the run"
            wrong = changed if name in now else "it is gone"
            raise FileError(folder / name, "", wrong, "the file that was stored, by raw_sha256 of host.json")
