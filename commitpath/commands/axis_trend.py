"""`make trend`: a table over several values of an axis, with the first that differs; each row is one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from base.errors import BadInputError
from base.text import did_you_mean, printable
from commitpath.cells.axes import Axis, axes, newest, own_name
from commitpath.charts.files import write_csv
from commitpath.command_line import variables as variables_table
from commitpath.commands import axis_runs
from commitpath.commands.release_bisect import all_causes, difference
from commitpath.database.select import NONE, Run
from commitpath.host import places
from commitpath.results import expectations
from commitpath.results.expectations import Name

METRICS = "syncs flushes block_writes kib tps"
# The column of a number, with its mark.
WIDTH, MARK = 13, "*"


def trend(variables: dict[str, str]) -> int:
    """Print each value's numbers, and the first value that differs in each, with the largest cause."""
    if missing := [name for name in ("AXIS", "VALUES") if name not in variables]:
        raise BadInputError(f"{' and '.join(missing)}: missing; {variables_table.takes('trend')}")
    axis = axis_of(variables.pop("AXIS"))
    if axis.variable in variables:
        raise BadInputError(f"{axis.variable} with AXIS={axis.name}: VALUES has its values")
    values = values_of(axis, variables.pop("VALUES"))
    names = names_of(variables.pop("METRICS", METRICS))
    target = places.new_file("CSV", variables.pop("CSV")) if "CSV" in variables else None
    runs = axis_runs.planned(axis, values, names, "METRICS", variables)
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
    return 0


def axis_of(text: str) -> Axis:
    """Return the axis that AXIS names, by either of its names. Raises BadInputError."""
    name = own_name(text.casefold())
    if name not in axes():
        near = did_you_mean(text, [*axes(), *(axis.also.lower() for axis in axes().values() if axis.also)])
        raise BadInputError(f"AXIS={text}: {near}AXIS is {', '.join(axes())}")
    return axes()[name]


def values_of(axis: Axis, text: str) -> list[str]:
    """Return the values of VALUES as a cell has them. Raises BadInputError for one, or a repeated one."""
    values = [str(axis.parse(part.strip(), "VALUES")) for part in text.split("|")]
    values = [newest() if (axis.name, value) == ("sqlite", "newest") else value for value in values]
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise BadInputError(f"VALUES={text}: {twice or 'the empty value'} is given twice")
    if len(values) < 2:
        raise BadInputError(f"VALUES={text}: one value; give several, with | between them")
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
