"""Make a cell from make's variables: parse values, load profiles, refuse cells that cannot run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from base import identity
from base.errors import BadInputError
from base.text import choices, did_you_mean
from commitpath.cells import observers, persistent_memory, sqlite_tree, transaction_files
from commitpath.cells.axes import axes, newest, own_name, parse_probes
from commitpath.cells.profiles import device_profile, load_profile, logs_itself
from images import given
from model import cell as cells
from model.cell import Cell
from model.statements import sqlfile

PROFILE_AXES = ("device", "fs", "workload")


def make_cell(variables: Mapping[str, str]) -> Cell:
    """Return the cell of make's variables; unset axes take their default.

    Raises BadInputError on an unknown variable, a value that is not allowed, or an impossible combination.
    """
    values = parsed(variables)
    # loaded late: Polars is not needed to reject a value
    from commitpath.cells import combinations, crash_refusals

    cell = with_profiles(values)
    rules = load_profile("workload", cell.workload)
    cell = with_script(cell)
    combinations.check_engine(cell, rules.get("engines"))
    combinations.check_settings(cell, variables)
    combinations.check_clock(cell, variables)
    automatic = observers.automatic(logs_itself(cell))
    cell = replace(cell, probes=",".join(name for name in cell.probes.split(",") if name not in automatic))
    cell = transaction_files.with_file(with_fixed(cell, variables), variables)
    combinations.check_workload(cell, rules)
    combinations.check_kernel(cell, load_profile("fs", cell.fs))
    combinations.check_combination(cell)
    combinations.check_device(cell)
    persistent_memory.check(cell)
    crash_refusals.check(cell, variables)
    return cell


def parsed(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of every axis by its name. Raises BadInputError."""
    values: dict[str, Any] = {name: axis.spec["default"] for name, axis in axes().items()}
    for variable, text in variables.items():
        axis = axes().get(own_name(variable.lower()))
        if axis is None or variable not in (axis.variable, axis.also):
            names = [entry.variable for entry in axes().values()]
            near = did_you_mean(variable, [*names, *(entry.also for entry in axes().values() if entry.also)])
            raise BadInputError(
                f"{variable}: unknown variable; {near}it is {choices(names, 'make help experiment')}"
            )
        values[axis.name] = axis.parse(text, variable)
    preset = load_profile("workload", values["workload"]).get("defaults", {})
    values |= {name: value for name, value in preset.items() if not axes()[name].among(variables)}
    values["probes"] = ",".join(parse_probes(values["probes"], BadInputError("PROBES")))
    if load_profile("engine", values["engine"]).get("release") == "sqlite":
        if values["sqlite"] == "newest":
            values["sqlite"] = newest()
        elif values["sqlite"].startswith(sqlite_tree.PREFIX):
            values["sqlite"] = sqlite_tree.look(values["sqlite"].removeprefix(sqlite_tree.PREFIX))
    return values


def with_profiles(values: Mapping[str, Any]) -> Cell:
    """Return the cell of these values, with the profiles of its parts."""
    profiles, kernel = {axis: load_profile(axis, values[axis]) for axis in PROFILE_AXES}, values["kernel"]
    profiles["device"] = device_profile(values["device"], values["device_state"])
    # not part of an id at its default: the axis is younger than the id rule
    if users := given.split(kernel):
        kernel, profiles["kernel"] = given.look(*users)
    elif kernel != axes()["kernel"].spec["default"]:
        profiles["kernel"] = load_profile("kernel", kernel)
    settings = {
        axis: {name: value for name, value in profile.items() if name not in identity.NO_SETTINGS}
        for axis, profile in profiles.items()
    }
    return cells.from_document({**values, "kernel": kernel, "profiles": settings})


def with_fixed(cell: Cell, variables: Mapping[str, str]) -> Cell:
    """Return a cell with the axes that its workload fixes. Raises BadInputError if one has another value."""
    fixed = cell.profiles["workload"].get("fixed", {})
    for name, value in fixed.items():
        if (variable := axes()[name].among(variables)) and cell.value(name) != value:
            raise BadInputError(
                f"{variable}={cell.value(name)}: WORKLOAD={cell.workload} allows only {value} "
                f"(experiments/workload/{cell.workload}.yml)"
            )
    return replace(cell, **fixed)


def with_script(cell: Cell) -> Cell:
    """Return a cell with the content of the script that OBSERVERS names, and its observer in `probes`."""
    where = f"OBSERVERS={cell.observers}"
    first, comma, path = cell.observers.partition(",")
    ends = {end: name for name, end in observers.scripted().items()}
    if first != "all" or (comma and Path(path).suffix not in ends):
        raise BadInputError(f"{where}: {axes()['observers'].variable} is {axes()['observers'].allowed()}")
    if not comma:
        return cell
    if not cell.probes:
        raise BadInputError(f"{where}: a script needs probes, and PROBES is none")
    name, text = ends[Path(path).suffix], transaction_files.script(Path(path))
    return replace(
        cell,
        observers=f"all,{sqlfile.name(text)}",
        profiles={**cell.profiles, "observers": {name: text}},
        probes=",".join(sorted([*cell.probes.split(","), name])),
    )
