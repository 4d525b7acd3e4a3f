"""Hash a stored run's raw files; refuse changed, missing and added ones."""

from collections.abc import Mapping
from pathlib import Path

from analysis.run_files import derived
from analysis.run_files.reading import check_regular, check_unlinked, read_json, sha256
from base.errors import FileError

# message for a run without raw_sha256 in host.json
NOT_HELD = "its raw files are not held: it was stored without their hashes"


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of raw/, twin/ and crash/, by its name below the run's folder.

    Raises FileError at a link, and at anything except regular files and folders.
    """
    digests = {}
    for place in (folder / part for part in ("raw", "twin", "crash")):
        for path in (place, *place.rglob("*")):
            if path.is_symlink():
                raise FileError(path, "", "is a link", "a file or folder of its own")
            if path.exists() and not path.is_dir():
                check_regular(path)
                digests[str(path.relative_to(folder))] = sha256(path)
    return dict(sorted(digests.items()))


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
