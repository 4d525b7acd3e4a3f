"""`make bisect`, `make trend`: run a cell for values of an axis; report the first that changes a metric.

Each step of a search, and each row of a table, is one run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from base.data import load_mapping
from base.errors import BadInputError, FileError, LabError
from base.text import choices, did_you_mean, printable
from commitpath.cells.axes import Axis, aliases, axes, newest, own_name, releases, run_axes, version_key
from commitpath.cells.from_variables import make_cell
from commitpath.charts.files import write_csv
from commitpath.command_line import variables as variables_table
from commitpath.commands import board_commands
from commitpath.database.select import NONE, Run
from commitpath.host import ansible, places
from commitpath.results import expectations, metrics, run_folders, run_verdicts
from commitpath.results.expectations import Name
from model.cell import Cell


@dataclass(frozen=True)
class AxisRuns:
    """The cells of an axis's values, and what their runs need. entry: their board; file: FILE."""

    axis: Axis
    cells: Mapping[str, Cell]
    limit: float
    entry: Mapping[str, Any]
    file: str

    def title(self, value: str) -> str:
        """Return a value with its variable: `SQLITE=3.46.1`."""
        return f"{self.axis.variable}={value}"

    def run(self, value: str) -> Run:
        """Run the cell of a value and return its run. Raises LabError if it fails or is rejected."""
        from commitpath.commands.analysed_runs import load_analysis
        from commitpath.run.experiment import run_once

        cell = self.cells[value]
        board_commands.make_ready([cell], self.entry, self.file)
        try:
            folder: Path = run_once(cell, self.limit, meanwhile=load_analysis)
        except (LabError, FileError) as error:
            raise LabError(f"{self.title(value)}: {error}") from error
        # loaded while the boards ran
        from analysis.__main__ import main as analyse

        if analyse([str(folder), "--quiet"]):
            raise LabError(f"{self.title(value)}: {board_commands.why_failed(folder)}")
        return run_folders.read(folder)

    def number(self, value: str, run: Run, name: Name) -> float:
        """Return a number of the run of a value. Raises LabError if it has none."""
        if (measured := metrics.value(run, name.metric, name.op)) is None:
            raise LabError(f"{self.title(value)}: {run_verdicts.lacking(run, name)}")
        return measured


def planned(
    axis: Axis, values: Sequence[str], names: Sequence[Name], source: str, variables: dict[str, str]
) -> AxisRuns:
    """Return the checked runs of some values of an axis. source: the variable that gives the names.

    Raises BadInputError, also for a cell with runs that do not repeat or lack a number.
    """
    spec = run_axes()["limit"]
    limit = spec.parse(variables.pop("LIMIT", str(spec.spec["default"])), "LIMIT")
    # an unknown board first, before the needs of its cells
    entry = ansible.board(variables.get("BOARD", "virtual"))
    # all of them now: one that no board can run would end the search
    cells = {value: make_cell({**variables, axis.variable: value}) for value in values}
    runs = AxisRuns(axis, cells, limit, entry, variables.get("FILE", ""))
    for value, cell in cells.items():
        if cell.clock != "virtual":
            raise BadInputError(
                f"CLOCK={cell.clock}: its runs do not repeat, so a difference may be noise; use "
                "CLOCK=virtual, or make compare"
            )
        for name in names:
            if lacking := expectations.lacks(cell, name):
                raise BadInputError(f"{source}={name}: {runs.title(value)}: {lacking}")
    return runs


AXES = ("sqlite", "kernel")


def bisect(variables: dict[str, str]) -> int:
    """Print the first value of an axis with another number than GOOD, and the largest cause."""
    if missing := [name for name in ("AXIS", "GOOD", "BAD", "METRIC") if not variables.get(name)]:
        raise variables_table.missing("bisect", missing)
    axis, name = axes()[variables.pop("AXIS")], metric(variables.pop("METRIC"))
    if axis.variable in variables:
        raise BadInputError(f"{axis.variable} with AXIS={axis.name}: GOOD and BAD are its values")
    values = between(axis, variables.pop("GOOD"), variables.pop("BAD"))
    runs, found = planned(axis, values, [name], "METRIC", variables), dict[str, Run]()

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


METRICS = "syncs flushes block_writes kib tps"
# The column of a number, with its mark.
WIDTH, MARK = 13, "*"


def trend(variables: dict[str, str]) -> None:
    """Print each value's numbers, and the first value that differs in each, with the largest cause."""
    if missing := [name for name in ("AXIS", "VALUES") if name not in variables]:
        raise variables_table.missing("trend", missing)
    axis = axis_of(variables.pop("AXIS"))
    if axis.variable in variables:
        raise BadInputError(f"{axis.variable} with AXIS={axis.name}: VALUES has its values")
    values = values_of(axis, variables.pop("VALUES"))
    names = names_of(variables.pop("METRICS", METRICS))
    target = places.new_file("CSV", variables.pop("CSV"), ".csv") if "CSV" in variables else None
    runs = planned(axis, values, names, "METRICS", variables)
    width = max(len(axis.variable), *(len(value) for value in values))
    print("  ".join([axis.variable.ljust(width), *(str(name).rjust(WIDTH) for name in names)]).rstrip())
    found, numbers = dict[str, Run](), dict[str, list[float]]()
    for value in values:
        found[value] = runs.run(value)
        numbers[value] = [runs.number(value, found[value], name) for name in names]
        firsts = [first_that_differs(numbers, at) for at in range(len(names))]
        cells = [
            f"{number:.6g}{MARK if pair and pair[1] == value else ' '}".rjust(WIDTH)
            for number, pair in zip(numbers[value], firsts, strict=True)
        ]
        print(printable("  ".join([(value or NONE).ljust(width), *cells]).rstrip()), flush=True)
    if target:
        rows = [(value, *numbers[value], run.path) for value, run in found.items()]
        write_csv(target, [(axis.name, *map(str, names), "run"), *rows])
    pairs = dict[tuple[str, str], None]()
    for at, name in enumerate(names):
        if (pair := first_that_differs(numbers, at)) is None:
            print(f"{name}: the same with all values")
            continue
        pairs[pair] = None
        print(printable(f"{MARK} {difference(runs, name, pair, (found[pair[0]], found[pair[1]]))}"))
    for before, first in pairs:
        print(printable(all_causes(found[before], found[first])))


def axis_of(text: str) -> Axis:
    """Return the axis that AXIS names, by either of its names. Raises BadInputError."""
    name = own_name(text.casefold())
    if name not in axes():
        near = did_you_mean(text, [*axes(), *(axis.also.lower() for axis in axes().values() if axis.also)])
        raise BadInputError(f"AXIS={text}: {near}AXIS is {choices(axes(), 'make help experiment')}")
    return axes()[name]


def values_of(axis: Axis, text: str) -> list[str]:
    """Return the values of VALUES as a cell has them. Raises BadInputError for one, or a repeated one."""
    if "|" not in text:
        raise BadInputError(f"VALUES={text}: one value; give several, with | between them")
    values = [str(axis.parse(part.strip(), "VALUES")) for part in text.split("|")]
    values = [newest() if (axis.name, value) == ("sqlite", "newest") else value for value in values]
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise BadInputError(f"VALUES={text}: {twice or 'the empty value'} is given twice")
    return values


def names_of(text: str) -> list[Name]:
    """Return the numbers that METRICS names. Raises BadInputError."""
    scanner, names = expectations.Scanner(text, "METRICS"), list[Name]()
    while scanner.at < len(scanner.text):
        names.append(scanner.name())
        scanner.skip()
    if len(set(names)) < len(names) or not names:
        wrong = "a metric is given twice" if names else f"no metric; e.g. {METRICS}"
        raise BadInputError(f"METRICS={text}: {wrong}")
    return names


def first_that_differs(numbers: Mapping[str, Sequence[float]], at: int) -> tuple[str, str] | None:
    """Return the first value with another number than the one before it, behind that; None without one."""
    return next((pair for pair in pairwise(numbers) if numbers[pair[0]][at] != numbers[pair[1]][at]), None)
