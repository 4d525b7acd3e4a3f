"""Cells: one complete configuration, checked against experiments/schema.yml.

A cell is a plain dict as docs/reference/formats.md describes under cell.json.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base import identity
from base.errors import BadInputError
from base.text import did_you_mean
from commitpath import combinations, crash_refusals, observers, persistent, transactions, userfiles
from commitpath.axes import axes, newest, own_name, parse_probes
from commitpath.profiles import load_profile, logs_itself
from images import given
from model.statements import sqlfile

PROFILE_AXES = ("device", "fs", "workload")


def make_cell(variables: Mapping[str, str]) -> dict[str, Any]:
    """The cell that make's variables (or a cell file's entries) ask for.

    Unset axes take their default. Raises BadInputError on an unknown variable, a
    value that is not allowed, or a combination that cannot exist.
    """
    known = axes()
    cell: dict[str, Any] = {name: axis.spec["default"] for name, axis in known.items()}
    for variable, text in variables.items():
        axis = known.get(own_name(variable.lower()))
        if axis is None or variable not in (axis.variable, axis.also):
            names = [entry.variable for entry in known.values()]
            near = did_you_mean(variable, [*names, *(entry.also for entry in known.values() if entry.also)])
            raise BadInputError(f"{variable}: unknown variable; {near}there are {', '.join(names)}")
        cell[axis.name] = axis.parse(text, variable)
    cell["probes"] = ",".join(parse_probes(cell["probes"], BadInputError("PROBES")))
    if load_profile("engine", cell["engine"]).get("release") == "sqlite" and cell["sqlite"] == "newest":
        cell["sqlite"] = newest()
    profiles = {axis: load_profile(axis, cell[axis]) for axis in PROFILE_AXES}
    # an axis that came after the rule of ids: at its default it is no part of one
    if own := given.split(cell["kernel"]):
        cell["kernel"], profiles["kernel"] = given.look(*own)
    elif cell["kernel"] != known["kernel"].spec["default"]:
        profiles["kernel"] = load_profile("kernel", cell["kernel"])
    cell["profiles"] = {
        axis: {name: value for name, value in profile.items() if name not in identity.NO_SETTINGS}
        for axis, profile in profiles.items()
    }
    take_script(cell)
    combinations.check_engine(cell, variables, profiles["workload"].get("engines"))
    combinations.check_clock(cell, variables)
    there = observers.unnamed(logs_itself(cell))
    cell["probes"] = ",".join(name for name in cell["probes"].split(",") if name not in there)
    for name, value in cell["profiles"]["workload"].get("fixed", {}).items():
        if (asked := known[name].among(variables)) and cell[name] != value:
            raise BadInputError(
                f"{asked}={cell[name]}: WORKLOAD={cell['workload']} allows only {value} "
                f"(experiments/workload/{cell['workload']}.yml)"
            )
        cell[name] = value
    transactions.take_file(cell, variables)
    combinations.check_workload(cell, profiles["workload"])
    combinations.check_kernel(cell, profiles["fs"])
    combinations.check_combination(cell)
    persistent.check(cell, variables)
    crash_refusals.check(cell, variables)
    return cell


def take_script(cell: dict[str, Any]) -> None:
    """Put the content of the script that OBSERVERS names into a cell, and its observer among the probes."""
    asked = cell["observers"]
    first, comma, path = asked.partition(",")
    ends = {end: name for name, end in observers.scripted().items()}
    if first != "all" or (comma and Path(path).suffix not in ends):
        raise BadInputError(
            f"OBSERVERS={asked}: {axes()['observers'].variable} is {axes()['observers'].allowed()}"
        )
    if not comma:
        return
    if not cell["probes"]:
        raise BadInputError(f"OBSERVERS={asked}: a script runs beside the probes, and PROBES is none")
    name, text = ends[Path(path).suffix], userfiles.script(Path(path))
    cell["observers"], cell["profiles"]["observers"] = f"all,{sqlfile.name(text)}", {name: text}
    cell["probes"] = ",".join(sorted([*cell["probes"].split(","), name]))
