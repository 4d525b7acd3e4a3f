"""Read REFERENCE (a run, a file of numbers); judge runs by EXPECT, print what fails and its largest cause.

A file of REFERENCE has NAME=value, separated by blanks or lines, with the names of EXPECT; `#` begins a
comment.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.run_files import stored
from base.errors import BadInputError, FileError
from base.paths import RESULTS
from base.text import one_line, printable
from commitpath.command_line import stored_run
from commitpath.database import select, store
from commitpath.database.select import Run
from commitpath.results import metrics, run_folders
from commitpath.results.expectations import Expectation, Name, Scanner, lacks
from commitpath.results.marks import MARKED
from commitpath.results.outcome import NoVerdictError, Outcome

_EQUALS = re.compile("=")


@dataclass(frozen=True)
class Reference:
    """source: as it was given, with the lab of a run without files. run: None for numbers of a file."""

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
    stored_run.check_path("REFERENCE", text)
    path = Path(text)
    if not text:
        raise BadInputError("REFERENCE=: name a run's folder, its id, or a file of NAME=value")
    if path.is_file():
        made = Reference(text, numbers=numbers(path))
    else:
        run = run_of(text)
        if run.facts["status"] != "ok":
            raise BadInputError(f"REFERENCE={text}: the run was rejected: {'; '.join(run.reasons)}")
        source = text if run.path else f"{text} (lab {run.facts['lab']}, {MARKED})"
        made = Reference(source, run)
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
    if row := stored_run.without_files("REFERENCE", text):
        with store.opened(write=False) as connection:
            for run in select.load(connection, f"lab={row[0]} run={row[1]}"):
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


# A quantity that causes split: the phrase for a cause.
_CAUSES = {
    "syncs": "syncs of {}",
    "flushes": "flushes for {}",
    "fua": "FUA writes of {}",
    "writes": "writes of {}",
}


def judge(expectations: Sequence[Expectation], reference: Reference | None, outcome: Outcome) -> int:
    """Print the verdict; return 0 if every run is as expected, else 1. NoVerdictError if that is unknown."""
    missed, unknown, values = list[str](), [outcome.failed] if outcome.failed else [], list[str]()
    for title, found in outcome.runs:
        run = found if isinstance(found, Run) else run_folders.read(found)
        head = f"{title}: " if title else ""
        for expected in expectations:
            value = metrics.value(run, expected.name.metric, expected.name.op)
            if cuts := metrics.unusable(run, expected.name.metric):
                missed.append(f"{head}expected {expected.text}; {cuts}")
            elif value is None:
                unknown.append(f"{head}{lacking(run, expected.name)}")
            elif expected.holds(value):
                values.append(f"{expected.name}={shown(value, expected)}")
            else:
                missed.append(head + words(expected, value, run, reference))
    # repeats of a run are equal
    for line in dict.fromkeys(missed):
        print(f"commitpath: {one_line(line)}", file=sys.stderr)
    if unknown or not outcome.runs:
        if not missed:
            raise NoVerdictError(f"EXPECT: no verdict: {'; '.join(dict.fromkeys(unknown)) or 'no run'}")
        for line in dict.fromkeys(unknown):
            print(f"commitpath: {one_line(line)}", file=sys.stderr)
    if missed:
        return 1
    count = len(outcome.runs)
    print(printable(f"as expected: {' '.join(values)}" if count == 1 else f"as expected: {count} runs"))
    return 0


def lacking(run: Run, name: Name) -> str:
    """Return that a run lacks a number, with the operations for which it has one."""
    spec = metrics.METRICS[name.metric]
    names = (metrics.WHOLE, *spec.statistics, *(run.summary["syncs"] or ()))
    has = [op for op in dict.fromkeys(names) if metrics.value(run, name.metric, op) is not None]
    said = run.summary["transactions"]["said"] if "transactions" in run.summary else "not recorded"
    reason = metrics.unusable(run, name.metric) or said
    return (
        f"the run has no {name}; it has {', '.join(f'{name.metric}.{op}' for op in has) or f'none: {reason}'}"
    )


def shown(value: float, expected: Expectation) -> str:
    """Return a value in six digits, or in all where these would meet another verdict."""
    text = f"{value:.6g}"
    return text if expected.holds(float(text)) == expected.holds(value) else repr(value)


def words(expected: Expectation, value: float, run: Run, reference: Reference | None) -> str:
    """Return what was expected and measured, and how that differs from the reference."""
    text = f"expected {expected.text}, measured {shown(value, expected)}"
    if reference is None:
        return text
    base = reference.value(expected.name)
    if base is None:
        return f"{text}; {reference.source} has no {expected.name}"
    if base == value:
        return f"{text}, as in {reference.source}"
    cause = because(expected.name, reference.run, run) if reference.run else ""
    return f"{text}; {reference.source} has {base:.6g}{cause}"


def because(name: Name, reference: Run, run: Run) -> str:
    """Return the largest cause of the difference in words; empty for a metric that no cause splits."""
    # loads matplotlib, which takes a second
    from analysis.diff import cost_by_cause
    from analysis.diff.comparison_text import amount, duration

    quantity = metrics.METRICS[name.metric].quantity
    if not quantity or ":" in name.op:
        return ""
    if not run.path or not reference.path:
        return "; the cause is not known: its files are not here"
    op = None if name.op == metrics.WHOLE else name.op
    try:
        a, b = (stored.read(RESULTS / str(each.path), any_load=True) for each in (reference, run))
        cause = cost_by_cause.largest((a, b), quantity, op)
    except FileError as error:
        return f"; the cause is not known: {error.wrong}"
    if cause is None:
        return "; no cause differs"
    unit = {"bytes": amount, "time": duration}.get(quantity, "{:.3g}".format)
    what = _CAUSES.get(quantity, "{}").format(cause.name)
    return f"; largest cause: {what}, {unit(cause.a)} → {unit(cause.b)} per {op or 'transaction'}"
