"""Mark a run's folder as being analysed, by a lock on the folder, which ends with the process.

Where a filesystem has no locks of folders, as NFS, nothing is marked.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def marked(folder: Path) -> Iterator[None]:
    """Mark a folder during a `with` block; several processes may mark it at a time."""
    with _opened(folder) as descriptor:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


def is_marked(folder: Path) -> bool:
    """Return whether a process marks the folder."""
    with _opened(folder) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """Open a folder during a `with` block."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
