"""Folders that something is made in: gone at the end, and after a kill -9 at the next call.

Such a folder is called <name>-<token>.commitpath.part and holds a lock file that its process has locked.
The kernel lets go of the lock when the process ends, however that ends; whoever comes by removes what
nobody holds. A file that is being written is called .<name>-<token>.commitpath.part. Nothing else is
touched: in a folder of results may be anything, and downloads of others are called *.part, too.
"""

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from base import interrupts

# no other program calls anything so
SUFFIX = ".commitpath.part"
LOCK = ".lock"
# A file, or a folder that has no lock file yet, was left behind when it is older than that.
SECONDS_TO_BEGIN = 60.0
TOKEN_BYTES = 4
FOLDER = re.compile(rf".+-[0-9a-f]{{8}}{re.escape(SUFFIX)}")
# And what SQLite has beside one that it writes.
FILE = re.compile(rf"\..+-[0-9a-f]{{8}}{re.escape(SUFFIX)}(-journal)?")
# Why a disk refuses a write: it is full, the user's share of it is, the file is too large, it is damaged.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# A folder's mode: as the umask has it, or its owner's alone.
OPEN, PRIVATE = 0o777, 0o700


@contextlib.contextmanager
@interrupts.uninterrupted
def folder(parent: Path, name: str, mode: int = OPEN) -> Iterator[Path]:
    """A folder in PARENT with NAME in its own. To stay it is moved (keep), or what is in it is."""
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent, 1)
    path = parent / f"{name}-{secrets.token_hex(TOKEN_BYTES)}{SUFFIX}"
    path.mkdir(mode)
    try:
        with told(parent), lock_file(path / LOCK) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def temporary(name: str) -> contextlib.AbstractContextManager[Path]:
    """A folder of this user's alone where temporary files are (TMPDIR)."""
    return folder(Path(tempfile.gettempdir()), f"commitpath-{name}", PRIVATE)


def lock_file(path: Path) -> IO[str]:
    """A file to be locked, made where it is not there.

    Nothing is waited for, as a FIFO has one wait, and nothing is emptied that a link leads to: OSError.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.fdopen(os.open(path, flags, 0o666), "w")


def keep(path: Path, place: Path) -> None:
    """Move a folder that is whole to where it belongs."""
    path.rename(place)
    # not before: without it nobody would hold the folder
    (place / LOCK).unlink()


def file(place: Path) -> Path:
    """A new name beside PLACE for what becomes PLACE when it is whole (Path.replace)."""
    return place.with_name(f".{place.name}-{secrets.token_hex(TOKEN_BYTES)}{SUFFIX}")


@contextlib.contextmanager
@interrupts.uninterrupted
def whole(place: Path) -> Iterator[Path]:
    """A new name beside PLACE; what is written there is PLACE when the block ended well, else it is gone."""
    sweep(place.parent, 1)
    part = file(place)
    try:
        with told(place):
            yield part
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def told(place: Path) -> Iterator[None]:
    """Name what could not be written in an error of the disk that names no file."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK and error.filename is None:
            error.filename = str(place)
        raise


def sweep(root: Path, depth: int) -> None:
    """Remove what processes that are dead left in a folder, and DEPTH - 1 levels below it.

    Links are not followed: what they lead to is somebody else's.
    """
    if root.is_symlink() or not root.is_dir():
        return
    for entry in list(os.scandir(root)):
        path, is_folder = Path(entry.path), entry.is_dir(follow_symlinks=False)
        # held, or just removed by another call, or closed to us
        with contextlib.suppress(OSError):
            if is_folder and FOLDER.fullmatch(entry.name):
                remove_unheld(path)
            elif is_folder and depth > 1:
                sweep(path, depth - 1)
            elif not is_folder and FILE.fullmatch(entry.name) and is_old(path):
                path.unlink()


def remove_unheld(path: Path) -> None:
    """Remove a folder; OSError when a living process holds it."""
    with contextlib.ExitStack() as stack:
        try:
            # nothing is waited for, as of lock_file
            number = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            lock = stack.enter_context(os.fdopen(number))
        except FileNotFoundError:
            if not is_old(path):
                return
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)


def is_old(path: Path) -> bool:
    """Whether it is too old for one that is being made."""
    return time.time() - path.lstat().st_mtime > SECONDS_TO_BEGIN


def make_private(path: Path) -> None:
    """Leave a folder and the files in it to their owner alone: a board's memory has its keys in it."""
    # another call may just be removing it
    with contextlib.suppress(FileNotFoundError):
        path.chmod(PRIVATE)
        for file in path.iterdir():
            file.chmod(0o600)
