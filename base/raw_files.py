"""Hash a run's raw files (raw/, twin/, crash/); refuse links, and anything except regular files."""

import hashlib
import stat
from pathlib import Path

from base.errors import FileError


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


def check_regular(path: Path) -> None:
    """Raise FileError unless `path` is a regular file: a FIFO would block, a device may be endless."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise FileError(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a FIFO, a socket or a device"
        raise FileError(path, "", f"is {kind}", "a regular file")


def check_unlinked(folder: Path, name: str) -> None:
    """Raise FileError if FOLDER/NAME is a link or lies below one, and so may be outside the folder."""
    path = folder
    for part in Path(name).parts:
        path = path / part
        if path.is_symlink():
            raise FileError(path, "", "is a link", "a file or folder of its own")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content in hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
