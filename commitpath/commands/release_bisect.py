"""`make bisect`: find the first release of SQLite or Linux with another number; each step is one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from base.data import load_mapping
from base.errors import BadInputError, FileError, LabError
from base.text import printable
from commitpath.cells.axes import Axis, axes, newest, releases, run_axes, version_key
from commitpath.cells.from_variables import make_cell
from commitpath.command_line import variables as variables_table
from commitpath.commands import board_commands
from commitpath.database.select import Run
from commitpath.host import ansible
from commitpath.results import expectations, metrics, run_folders, run_verdicts
from commitpath.results.expectations import Name
from model.cell import Cell

AXES = ("sqlite", "kernel")


def bisect(variables: dict[str, str]) -> int:
    """Print the first value of an axis with another number than GOOD, and the largest cause."""
    if missing := [name for name in ("AXIS", "GOOD", "BAD", "METRIC") if not variables.get(name)]:
        raise BadInputError(f"{' and '.join(missing)}: missing; {variables_table.takes('bisect')}")
    axis, name = axes()[variables.pop("AXIS")], metric(variables.pop("METRIC"))
    if axis.variable in variables:
        raise BadInputError(f"{axis.variable} with AXIS={axis.name}: GOOD and BAD are its values")
    values = between(axis, variables.pop("GOOD"), variables.pop("BAD"))
    limit = run_axes()["limit"]
    seconds = limit.parse(variables.pop("LIMIT", str(limit.spec["default"])), "LIMIT")
    # an unknown board first, before the needs of its cells
    entry = ansible.board(variables.get("BOARD", "virtual"))
    # all of them now: one that no board can run would end the search
    cells = {value: make_cell({**variables, axis.variable: value}) for value in values}
    for value, cell in cells.items():
        if lacking := expectations.lacks(cell, name):
            raise BadInputError(f"METRIC={name}: {axis.variable}={value}: {lacking}")
    runs = dict[str, Run]()

    def number(value: str) -> float:
        board_commands.make_ready([cells[value]], entry, variables.get("FILE", ""))
        run = runs[value] = accepted(cells[value], seconds, f"{axis.variable}={value}")
        if (measured := metrics.value(run, name.metric, name.op)) is None:
            raise LabError(f"{axis.variable}={value}: {run_verdicts.lacking(run, name)}")
        print(printable(f"{axis.variable}={value}  {name}={measured:.6g}  {run.path}"), flush=True)
        return measured

    before, first, numbers = search(values, number)
    if numbers[before] == numbers[first]:
        both = f"{before} and {first} have {name}={numbers[first]:.6g}"
        raise LabError(f"{axis.variable}: the ends do not differ: {both}")
    cause = run_verdicts.because(name, runs[before], runs[first])
    change = f"{name} {numbers[before]:.6g} → {numbers[first]:.6g}"
    print(printable(f"first that differs: {axis.variable}={first}, after {before}: {change}{cause}"))
    print(printable(f"all causes: make diff RUN_A={runs[before].path} RUN_B={runs[first].path}"))
    return 0


def metric(text: str) -> Name:
    """Return the number that METRIC names. Raises BadInputError."""
    scanner = expectations.Scanner(text, "METRIC")
    name = scanner.name()
    scanner.end()
    return name


def ordered(axis: Axis) -> list[str]:
    """Return the values of an axis of releases, oldest first."""
    if not (files := axis.files()):
        return list(reversed(releases()))
    return sorted(files, key=lambda name: version_key(str(load_mapping(files[name])["release"])))


def between(axis: Axis, good: str, bad: str) -> list[str]:
    """Return the values from GOOD to BAD, in their order. Raises BadInputError."""
    order, places = ordered(axis), list[int]()
    for name, text in (("GOOD", good), ("BAD", bad)):
        value = str(axis.parse(text, name))
        value = newest() if value == "newest" else value
        if value not in order:
            raise BadInputError(f"{name}={text}: it has no place among {', '.join(order)}")
        places.append(order.index(value))
    low, high = places
    if low == high:
        raise BadInputError(f"GOOD={good} and BAD={bad} are one release; nothing to bisect")
    return order[low : high + 1] if low < high else order[high : low + 1][::-1]


def search(values: Sequence[str], number: Callable[[str], float]) -> tuple[str, str, Mapping[str, float]]:
    """Return the last value with the first one's number, its successor, and the numbers that were measured.

    If the ends have one number, these are the ends.
    """
    numbers = {value: number(value) for value in (values[0], values[-1])}
    low, high = 0, len(values) - 1
    while high - low > 1 and numbers[values[0]] != numbers[values[-1]]:
        middle = (low + high) // 2
        numbers[values[middle]] = number(values[middle])
        if numbers[values[middle]] == numbers[values[0]]:
            low = middle
        else:
            high = middle
    return values[low], values[high], numbers


def accepted(cell: Cell, limit: float, title: str) -> Run:
    """Run a cell once and return its run. Raises LabError if it fails or is rejected."""
    from analysis.__main__ import main as analyse
    from commitpath.run.experiment import run_once

    try:
        folder: Path = run_once(cell, limit)
    except (LabError, FileError) as error:
        raise LabError(f"{title}: {error}") from error
    if analyse([str(folder), "--quiet"]):
        raise LabError(f"{title}: {board_commands.why_failed(folder)}")
    return run_folders.read(folder)
