"""Temporary folders and files, moved into place when complete, and lock files; remove what a kill left.

Such a folder is called <name>-<token>.commitpath.part and has a lock file, locked by its process. The
kernel releases the lock when the process ends, and any later call removes folders without a holder. A
file being written is called .<name>-<token>.commitpath.part. Other files are never touched: a folder of
results may contain anything, and browsers also use *.part.
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

SUFFIX = ".commitpath.part"
LOCK = ".lock"
# A file, or a folder without a lock file, is abandoned when it is older than this.
SECONDS_TO_BEGIN = 60.0
TOKEN_BYTES = 4
FOLDER = re.compile(rf".+-[0-9a-f]{{8}}{re.escape(SUFFIX)}")
# with SQLite's journal
FILE = re.compile(rf"\..+-[0-9a-f]{{8}}{re.escape(SUFFIX)}(-journal)?")
# Errors of a disk: full, over quota, file too large, damaged.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# A folder's mode: by the umask, or only for its owner.
OPEN, PRIVATE = 0o777, 0o700


@contextlib.contextmanager
@interrupts.uninterrupted
def folder(parent: Path, name: str, mode: int = OPEN) -> Iterator[Path]:
    """Make a temporary folder in PARENT; to keep it, move it (keep) or its contents."""
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent, 1)
    path = parent / f"{name}-{secrets.token_hex(TOKEN_BYTES)}{SUFFIX}"
    path.mkdir(mode)
    try:
        with disk_errors_name(parent), lock_file(path / LOCK) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def temporary(name: str) -> contextlib.AbstractContextManager[Path]:
    """Make a temporary folder in TMPDIR, private to this user."""
    return folder(Path(tempfile.gettempdir()), f"commitpath-{name}", PRIVATE)


def lock_file(path: Path) -> IO[str]:
    """Open a file to be locked, creating it if missing.

    OSError for a FIFO, which would block, or a symbolic link, as its target would be truncated.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.fdopen(os.open(path, flags, 0o666), "w")


def is_at(lock: IO[str], path: Path) -> bool:
    """Return whether a locked file is still at its path: the one who held it may have removed it."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.lstat())
    except FileNotFoundError:
        return False


def remove_lock(path: Path) -> None:
    """Remove a lock file, unless it is held. Whoever waits for it looks with is_at."""
    # BlockingIOError is an OSError
    with contextlib.suppress(OSError), lock_file(path) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_at(lock, path):
            path.unlink()


def keep(path: Path, place: Path) -> None:
    """Move a finished folder to its place."""
    path.rename(place)
    # only now: another call removes a folder without a lock
    (place / LOCK).unlink()


def file(place: Path) -> Path:
    """Return a temporary name next to PLACE, to be renamed to PLACE when complete."""
    return place.with_name(f".{place.name}-{secrets.token_hex(TOKEN_BYTES)}{SUFFIX}")


@contextlib.contextmanager
@interrupts.uninterrupted
def whole(place: Path) -> Iterator[Path]:
    """Yield a temporary name next to PLACE; rename it to PLACE if the block succeeds, else delete it."""
    sweep(place.parent, 1)
    part = file(place)
    try:
        with disk_errors_name(place):
            yield part
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def write(place: Path, text: str) -> None:
    """Write a file that appears, or is replaced, only when whole; make its folder if it is missing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with whole(place) as part:
        part.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def disk_errors_name(place: Path) -> Iterator[None]:
    """Add the path to a disk error that names no file."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK and error.filename is None:
            error.filename = str(place)
        raise


def sweep(root: Path, depth: int) -> None:
    """Remove what dead processes left in a folder and DEPTH - 1 levels below; links are not followed."""
    if root.is_symlink() or not root.is_dir():
        return
    for entry in list(os.scandir(root)):
        path, is_folder = Path(entry.path), entry.is_dir(follow_symlinks=False)
        # locked, already removed by another call, or not accessible
        with contextlib.suppress(OSError):
            if is_folder and FOLDER.fullmatch(entry.name):
                remove_unheld(path)
            elif is_folder and depth > 1:
                sweep(path, depth - 1)
            elif not is_folder and FILE.fullmatch(entry.name) and is_old(path):
                path.unlink()


def remove_unheld(path: Path) -> None:
    """Remove a folder; OSError when a live process holds it."""
    with contextlib.ExitStack() as stack:
        try:
            # as in lock_file: do not block
            number = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            lock = stack.enter_context(os.fdopen(number))
        except FileNotFoundError:
            if not is_old(path):
                return
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)


def is_old(path: Path) -> bool:
    """Return whether it is too old to be still in the making."""
    return time.time() - path.lstat().st_mtime > SECONDS_TO_BEGIN


def make_private(path: Path) -> None:
    """Restrict a folder and its files to their owner: a board's memory contains its keys."""
    # another call may be removing it
    with contextlib.suppress(FileNotFoundError):
        path.chmod(PRIVATE)
        for file in path.iterdir():
            file.chmod(0o600)
