"""What each command takes on its command line, from variables.yml: its check and its help."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError
from base.text import did_you_mean
from commitpath.cells.axes import axes, run_axes


@functools.cache
def commands() -> dict[str, dict[str, Any]]:
    """variables.yml: command → `axes`, and `variables` by name (None: one of experiments/schema.yml)."""
    loaded: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name("variables.yml"))
    return loaded


def own(command: str) -> dict[str, Mapping[str, Any] | None]:
    """A command's variables beside the axes of a cell."""
    variables: dict[str, Mapping[str, Any] | None] = commands()[command].get("variables", {})
    return variables


def axes_of(command: str) -> list[str]:
    """The variables of a cell that a command takes."""
    entry = commands()[command]
    takes, without = entry.get("axes", False), entry.get("without", [])
    return [
        axis.variable
        for axis in axes().values()
        if (takes is True or (takes and axis.spec["x-of"] in takes)) and axis.variable not in without
    ]


def by_their_names(given: Mapping[str, str]) -> dict[str, str]:
    """What was given, with each axis under its own name; BadInputError where one has two."""
    own = {axis.also: axis.variable for axis in axes().values() if axis.also}
    found: dict[str, str] = {}
    for name, text in given.items():
        if own.get(name, name) in found or (name in own and own[name] in given):
            raise BadInputError(f"{name} and {own.get(name, name)} are one variable; give one of them")
        found[own.get(name, name)] = text
    return found


def check(command: str, given: Mapping[str, str]) -> None:
    """BadInputError on a variable that a command does not take, or a value that it cannot be."""
    known = own(command)
    cell = axes_of(command)
    also = [axis.also for axis in axes().values() if axis.also and axis.variable in cell]
    for name, text in given.items():
        if name not in known and name not in cell:
            takes = ", ".join([*known, *cell]) or "none"
            near = did_you_mean(name, [*known, *cell, *also])
            raise BadInputError(f"{name}: unknown variable; {near}make {command} takes {takes}")
        values = (known.get(name) or {}).get("values")
        if values and text not in values:
            raise BadInputError(f"{name}={text}: {did_you_mean(text, values)}{name} is {', '.join(values)}")


def takes(command: str) -> str:
    """Say what a command takes, each of its own variables with what it is or may be."""
    known = run_axes() | axes()
    parts = []
    for name, entry in own(command).items():
        what = known[name.lower()].spec["description"] if entry is None else entry["what"]
        shown = "|".join(entry["values"]) if entry and "values" in entry else f"<{what}>"
        parts.append(f"{name}={shown}")
    return f"make {command} takes {', '.join(parts)}"


def lines(command: str) -> list[str]:
    """A command's own variables for help: name, what it is, what it may be, [default]."""
    known = run_axes() | axes()
    found = []
    for name, entry in own(command).items():
        if entry is None:
            found.append(f"{name:<13} {known[name.lower()].spec['description']}")
            continue
        values = f": {', '.join(entry['values'])}" if "values" in entry else ""
        default = f" [{entry['default']}]" if "default" in entry else ""
        found.append(f"{name:<13} {entry['what']}{values}{default}")
    if axes_of(command):
        takes, without = commands()[command]["axes"], ", ".join(commands()[command].get("without", []))
        of = "a cell" if takes is True else ", ".join(takes)
        found.append(
            f"{'and ' if found else ''}the variables of {of}, below{f', but {without}' if without else ''}"
        )
    return found
