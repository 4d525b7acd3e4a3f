"""Check a command's variables and values by variables.yml and the schema; list them for help."""

import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS
from base.text import choices, did_you_mean, in_any_case
from commitpath.cells.axes import axes, run_axes


@functools.cache
def commands() -> dict[str, dict[str, Any]]:
    """Return variables.yml: command → `axes`, and `variables` by name (None for one of the schema)."""
    loaded: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name("variables.yml"))
    return loaded


def without_axes(command: str) -> dict[str, Mapping[str, Any]]:
    """Return a command's variables other than the axes of a cell, by name."""
    variables, schemas = commands()[command].get("variables", {}), run_axes() | axes()
    return {
        name: entry or {"what": schemas[name.lower()].spec["description"]}
        for name, entry in variables.items()
    }


def axes_of(command: str) -> list[str]:
    """Return the variables of a cell that a command accepts."""
    entry = commands()[command]
    takes, without = entry.get("axes", False), entry.get("without", [])
    return [
        axis.variable
        for axis in axes().values()
        if (takes is True or (takes and axis.spec["x-of"] in takes)) and axis.variable not in without
    ]


def names_in(entry: Mapping[str, Any]) -> list[str]:
    """Return the names of the data files that a variable may be; empty if it is not of a folder."""
    return sorted(path.stem for path in (EXPERIMENTS / entry["in"]).iterdir()) if "in" in entry else []


def by_their_names(given: Mapping[str, str]) -> dict[str, str]:
    """Return variables with each axis under its first name. BadInputError if one is given under both."""
    first = {axis.also: axis.variable for axis in axes().values() if axis.also}
    for name in given:
        if name in first and first[name] in given:
            raise BadInputError(f"{name} and {first[name]} are one variable; give one of them")
    return {first.get(name, name): text for name, text in given.items()}


def as_typed(message: str, words: Iterable[str]) -> str:
    """Return a message about variables with each axis under the name by which it was given."""
    given = {word.partition("=")[0] for word in words}
    try:
        every = axes().values()
    except BadInputError:  # the message is about the schema itself
        return message
    for axis in every:
        # a message about both has both
        if axis.also in given and axis.variable not in given:
            message = re.sub(rf"(?<![\w=]){axis.variable}\b", axis.also, message)
    return message


def check(command: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return variables with their values as listed, which may be given in any case.

    Refuses a variable that a command does not accept, and a value that a variable cannot have.
    given: as typed, so that a message names a variable as its user did.
    """
    listed = dict(given)
    known = without_axes(command)
    cell = axes_of(command)
    also = [axis.also for axis in axes().values() if axis.also and axis.variable in cell]
    for name, text in given.items():
        if name not in (*known, *cell, *also):
            near = did_you_mean(name, [*known, *cell, *also])
            # a cell has about a hundred
            others = [f"{'and ' if known else ''}those of a cell (make help {command} lists them)"]
            takes = ", ".join([*known, *(others if cell else [])]) or "none"
            if {name} & {
                word for axis in (axes() | run_axes()).values() for word in (axis.variable, axis.also)
            }:
                raise BadInputError(f"{name}: {why_not(command, name)}; it takes {takes}")
            raise BadInputError(f"{name}: unknown variable; {near}make {command} takes {takes}")
        if names := names_in(known.get(name, {})):
            listed[name] = in_any_case(text, names)
        if not (values := known.get(name, {}).get("values")):
            continue
        by_lower_case = {value.casefold(): value for value in values}
        if text.casefold() not in by_lower_case:
            allowed = choices(values, f"make help {command}")
            raise BadInputError(f"{name}={text}: {did_you_mean(text, values)}{name} is {allowed}")
        listed[name] = by_lower_case[text.casefold()]
    return listed


def why_not(command: str, name: str) -> str:
    """Return why a command does not accept a variable that others do."""
    entry = commands()[command]
    left_out = by_their_names({name: ""}).keys() & {*entry.get("without", [])}
    return str(entry["because"]) if left_out and "because" in entry else f"make {command} does not take it"


def missing(command: str, names: Iterable[str]) -> BadInputError:
    """Return the error for variables that a command needs, with their values or meanings, and with others
    that may take their place."""
    known = without_axes(command)
    parts = [f"{n}={'|'.join(known[n].get('values', [])) or '<' + known[n]['what'] + '>'}" for n in names]
    in_place = tuple(f"in place of {name}" for name in names)
    others = [f", or {n}=" for n, entry in known.items() if entry["what"].startswith(in_place)]
    return BadInputError(
        f"{' and '.join(names)}: missing; make {command} takes {', '.join(parts)}{''.join(others)} "
        f"(make help {command})"
    )


def lines(command: str) -> list[str]:
    """Return a command's variables for help: name, meaning, values, [default]."""
    texts = []
    for name, entry in without_axes(command).items():
        values = f": {', '.join(entry['values'])}" if "values" in entry else ""
        default = f" [{entry['default']}]" if "default" in entry else ""
        texts.append(f"{name:<13} {entry['what']}{values}{default}")
    if axes_of(command):
        takes, without = commands()[command]["axes"], ", ".join(commands()[command].get("without", []))
        of = "a cell" if takes is True else ", ".join(takes)
        note = commands()[command].get("note", "")
        texts.append(
            f"{'and ' if texts else ''}the variables of {of}, below{f', but {without}' if without else ''}"
            f"{f'; {note}' if note else ''}"
        )
    return texts
