"""Exceptions that end a command with one line and an exit code: bad input, failure, unreadable file."""

import errno
from pathlib import Path

from base.text import printable

# also the exit code of a rejected run
EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
# FileError: a stored file cannot be read
EXIT_UNREADABLE = 3


class LabError(Exception):
    """An error that the user can act on; the message is one line."""

    exit_code = EXIT_FAILED


class BadInputError(LabError):
    """An invalid request; the message has the value, the allowed values, and the place."""

    exit_code = EXIT_BAD_INPUT


class UnfitFileError(BadInputError):
    """A file that a request names is there, but its content cannot be used."""


class FileError(Exception):
    """A stored file cannot be read, or its content is invalid.

    The message is one line: file, place, the fault, and what was expected.
    """

    def __init__(self, path: Path | str, place: str, wrong: str, expected: str) -> None:
        where = f"{path}: {place}" if place else f"{path}"
        text = f"{where}: {wrong}; expected {expected}"
        super().__init__(printable(text))
        self.path = Path(path)
        self.wrong = wrong


def is_bad_input(error: BaseException) -> bool:
    """Return whether the request caused an error. A name that is too long for the system is a user's, too."""
    too_long = isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG
    return too_long or isinstance(error, BadInputError)
