"""What ends a command: one clear line and an exit code."""

from __future__ import annotations

from pathlib import Path

from base.text import printable

# 1 also stands for a rejected run.
EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
# a stored file that cannot be read: BadInput
EXIT_UNREADABLE = 3


class LabError(Exception):
    """Something the user can act on went wrong; the message is one line."""

    exit_code = EXIT_FAILED


class BadInputError(LabError):
    """A request that cannot be met: says what, what is allowed, and where."""

    exit_code = EXIT_BAD_INPUT


class BadInput(Exception):
    """An input file cannot be read as what it should be.

    The message is one line: file, place, what is wrong, what is expected.
    """

    def __init__(self, path: Path | str, place: str, wrong: str, expected: str) -> None:
        where = f"{path}: {place}" if place else f"{path}"
        text = f"{where}: {wrong}; expected {expected}"
        super().__init__(printable(text))
        self.path = Path(path)
        self.wrong = wrong
