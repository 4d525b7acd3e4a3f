"""REFERENCE: the numbers that a failed expectation is compared with, of a run or of a file.

A file has NAME=value, separated by blanks or lines, with the names of EXPECT; `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from base.errors import BadInputError, FileError
from commitpath.command_line import stored_run
from commitpath.database import select, store
from commitpath.database.select import Run
from commitpath.results import metrics, run_folders
from commitpath.results.expectations import Expectation, Name, Scanner, lacks

_EQUALS = re.compile("=")


@dataclass(frozen=True)
class Reference:
    """source: as it was given. run: None for numbers of a file."""

    source: str
    run: Run | None = None
    numbers: Mapping[Name, float] = field(default_factory=dict)

    def value(self, name: Name) -> float | None:
        """Return a number of the reference; None if it has none."""
        if self.run is None:
            return self.numbers.get(name)
        if lacks(self.run.cell, name):
            return None
        return metrics.value(self.run, name.metric, name.op)


def read(text: str, expectations: Sequence[Expectation]) -> Reference:
    """Return the reference that a text names: a run's folder, its id, or a file. Raises BadInputError."""
    stored_run.check_utf8("REFERENCE", text)
    path = Path(text)
    if not text:
        raise BadInputError("REFERENCE=: name a run's folder, its id, or a file of NAME=value")
    if path.is_file():
        made = Reference(text, numbers=numbers(path))
    else:
        run = run_of(text)
        if run.facts["status"] != "ok":
            raise BadInputError(f"REFERENCE={text}: the run was rejected: {'; '.join(run.reasons)}")
        made = Reference(text, run)
    if all(made.value(expected.name) is None for expected in expectations):
        names = ", ".join(str(expected.name) for expected in expectations)
        raise BadInputError(f"REFERENCE={text}: it has none of {names}")
    return made


def run_of(text: str) -> Run:
    """Return the run that a text names, by its folder or by the database's numbers. Raises BadInputError."""
    if found := stored_run.find("REFERENCE", text):
        try:
            return run_folders.read(found)
        except FileError as error:
            raise BadInputError(f"REFERENCE={text}: {error}") from error
    if row := stored_run.without_files(text):
        with store.opened(write=False) as connection:
            for run in select.load(connection, "lab={} run={}".format(*row)):
                return run
    raise BadInputError(f"REFERENCE={text}: no such run or file; {stored_run.NAMES}; a file has NAME=value")


def numbers(path: Path) -> dict[Name, float]:
    """Return the numbers of a file. Raises BadInputError with the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"REFERENCE={path}: it cannot be read: {error}") from error
    values: dict[Name, float] = {}
    for number, line in enumerate(lines, 1):
        scanner = Scanner(line.partition("#")[0], f"REFERENCE={path}, line {number}")
        while scanner.at < len(scanner.text):
            name = scanner.name()
            if name in values:
                raise BadInputError(f"REFERENCE={path}, line {number}: {name} is given twice")
            scanner.take(_EQUALS, f"= after {name}")
            values[name] = scanner.number(f"{name}=")
            scanner.skip()
    return values
