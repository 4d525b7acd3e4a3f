"""The one error a user of the analysis meets."""

from __future__ import annotations

from pathlib import Path

from analysis.text import printable


class BadInput(Exception):
    """An input file cannot be read as what it should be.

    The message is one line: file, place, what is wrong, what is expected.
    """

    def __init__(self, path: Path | str, place: str, wrong: str, expected: str) -> None:
        where = f"{path}: {place}" if place else f"{path}"
        text = f"{where}: {wrong}; expected {expected}"
        super().__init__(printable(text))
        self.path = Path(path)
