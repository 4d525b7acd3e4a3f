"""`make bisect`: find the first release of SQLite or Linux with another number; each step is one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from base.data import load_mapping
from base.errors import BadInputError, LabError
from base.text import did_you_mean, printable
from commitpath.cells.axes import Axis, aliases, axes, newest, releases, version_key
from commitpath.command_line import variables as variables_table
from commitpath.commands import axis_runs
from commitpath.commands.axis_runs import AxisRuns
from commitpath.database.select import Run
from commitpath.results import expectations, run_verdicts
from commitpath.results.expectations import Name

AXES = ("sqlite", "kernel")


def bisect(variables: dict[str, str]) -> int:
    """Print the first value of an axis with another number than GOOD, and the largest cause."""
    if missing := [name for name in ("AXIS", "GOOD", "BAD", "METRIC") if not variables.get(name)]:
        raise BadInputError(f"{' and '.join(missing)}: missing; {variables_table.takes('bisect')}")
    axis, name = axes()[variables.pop("AXIS")], metric(variables.pop("METRIC"))
    if axis.variable in variables:
        raise BadInputError(f"{axis.variable} with AXIS={axis.name}: GOOD and BAD are its values")
    values = between(axis, variables.pop("GOOD"), variables.pop("BAD"))
    runs, found = axis_runs.planned(axis, values, [name], "METRIC", variables), dict[str, Run]()

    def number(value: str) -> float:
        run = found[value] = runs.run(value)
        measured = runs.number(value, run, name)
        print(printable(f"{runs.title(value)}  {name}={measured:.6g}  {run.path}"), flush=True)
        return measured

    before, first, numbers = search(values, number)
    if numbers[before] == numbers[first]:
        both = f"{before} and {first} have {name}={numbers[first]:.6g}"
        raise LabError(f"{axis.variable}: the ends do not differ: {both}")
    print(printable(difference(runs, name, (before, first), (found[before], found[first]))))
    print(printable(all_causes(found[before], found[first])))
    return 0


def difference(runs: AxisRuns, name: Name, values: tuple[str, str], found: tuple[Run, Run]) -> str:
    """Return the line on the first value that differs. values, found: the one before it and itself."""
    a, b = (runs.number(value, run, name) for value, run in zip(values, found, strict=True))
    cause = run_verdicts.because(name, *found)
    return f"first that differs: {runs.title(values[1])}, after {values[0]}: {name} {a:.6g} → {b:.6g}{cause}"


def all_causes(before: Run, first: Run) -> str:
    """Return the line with the command that compares two runs."""
    return f"all causes: make diff RUN_A={before.path} RUN_B={first.path}"


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
    named = {value: value for value in order} | {
        str(alias): value for alias, value in aliases(axis.name).items()
    }
    if "newest" in axis.choices():
        named["newest"] = newest()
    for name, text in (("GOOD", good), ("BAD", bad)):
        # a path of the user's, which the axis takes, has no place in an order
        if text.casefold() not in named:
            near = did_you_mean(text, named)
            raise BadInputError(f"{name}={text}: {near}AXIS={axis.name} has {', '.join(named)}")
        places.append(order.index(named[text.casefold()]))
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
