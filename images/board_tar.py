"""Read and check the tar that a board sends: plain files and folders, no larger than the tar itself."""

import contextlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from base.errors import LabError

# Most files and folders of one tar: a run with trials has 132 (tests/analysis/sample-crash-lines.tar.xz), one
# that keeps the databases of many trials some thousand.
MOST_MEMBERS = 100_000


class BadTarError(LabError):
    """The board's output is not a valid tar of a run."""


@contextlib.contextmanager
def opened(content: bytes) -> Iterator[tarfile.TarFile]:
    """Open an uncompressed tar. Raises BadTarError, also for errors while reading it in the block."""
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
            yield tar
    # tarfile reads a chain of extended headers recursively, and does not check their numbers
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        raise BadTarError(f"what the board sent is not a complete tar: {error}") from error


def members(tar: tarfile.TarFile, content: bytes) -> Iterator[tarfile.TarInfo]:
    """Yield the members of a tar. Raises BadTarError at one larger than the tar."""
    for number, member in enumerate(tar):
        if number >= MOST_MEMBERS:
            raise BadTarError(f"the board sent more than {MOST_MEMBERS} files and folders")
        # a tar has only the non-zero parts of a sparse file
        if member.issparse() or not 0 <= member.size <= len(content):
            size = f"{member.size} bytes in a tar of {len(content)}"
            raise BadTarError(f"the board sent {member.name!r}, a sparse file: {size}")
        yield member


def text(content: bytes, name: str) -> str:
    """Return the text of one file. Raises BadTarError, and KeyError if it is missing."""
    with opened(content) as tar:
        for member in members(tar, content):
            if member.name == name and (file := tar.extractfile(member)):
                return file.read().decode(errors="replace")
    raise KeyError(name)


def raw_members(tar: tarfile.TarFile, content: bytes) -> Iterator[tarfile.TarInfo]:
    """Yield the files and folders of raw/. Skips other members.

    Raises BadTarError for one of raw/ that is neither, or has `..` in its name.

    (tarfile's own data filter came with Python 3.11.4; Debian 12 has 3.11.2.)
    """
    for member in members(tar, content):
        name = PurePosixPath(member.name)
        if name.parts[:1] != ("raw",):
            continue
        if ".." in name.parts or not (member.isfile() or member.isdir()):
            raise BadTarError(f"the board sent {member.name!r}, which is not a file or folder of raw/")
        yield member
