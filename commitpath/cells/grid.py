"""Expand a grid of experiments/grids into its runs and excluded cells."""

import itertools
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from base import identity
from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS
from base.schema import schema
from base.text import choices, did_you_mean
from commitpath.cells import samples
from commitpath.cells.axes import axes, own_name
from commitpath.cells.identities import cell_id
from commitpath.cells.profiles import load_profile
from commitpath.cells.samples import Sampling
from model import synthetic
from model.cell import Cell

GRIDS = EXPERIMENTS / "grids"
GRIDS_OWN = Sampling()


@dataclass(frozen=True)
class GridRun:
    """One run of a grid: a cell, with its seed and board, and the number of the repeat.

    first: the sampled cell, with the first seed and board.
    """

    grid: str
    cell: Cell
    repeat: int
    first: Cell

    @property
    def key(self) -> str:
        """The cell's id and the repeat: two grids share runs with equal keys."""
        return f"{cell_id(self.cell)}-{self.repeat}"


@dataclass(frozen=True)
class Excluded:
    """A cell that a grid excludes, with the reason."""

    grid: str
    settings: Mapping[str, Any]
    reason: str


@dataclass
class Expanded:
    """The runs and excluded cells of a grid."""

    runs: list[GridRun]
    excluded: list[Excluded]


def names() -> list[str]:
    """Return the names of all grids."""
    return [path.stem for path in sorted(GRIDS.glob("*.yml"))]


def load(name: str) -> tuple[Path, dict[str, Any]]:
    """Return (path, content) of a grid: a name of experiments/grids, or a path to a .yml file."""
    path = Path(name) if name.endswith(".yml") else GRIDS / f"{name}.yml"
    if not path.is_file():
        file = f"{name}.yml"
        near = f"did you mean {file}? " if Path(file).is_file() else did_you_mean(name, names())
        known = choices(names(), "ls experiments/grids")
        raise BadInputError(f"GRID={name}: no such grid; {near}it is {known}, or a .yml file")
    content = load_yaml(path)
    if not isinstance(content, dict):
        raise BadInputError(f"{path}: not a grid; it needs description, and axes, variants or grids")
    # the shape first, so that a wrong key is named before "valid under none of the given schemas"
    checks = schema()["$defs"]["grid"]
    parts = ({key: value for key, value in checks.items() if key != "oneOf"}, checks)
    for part in parts:
        for error in jsonschema.Draft202012Validator(part).iter_errors(content):
            place = ".".join(str(step) for step in error.absolute_path)
            fault = (
                "needs axes (with or without variants and constants), or variants, or only grids"
                if error.validator == "oneOf"
                else error.message
            )
            raise BadInputError(f"{path}: {place + ': ' if place else ''}{fault}")
    # runs have the name of the grid, not of a grid of grids
    if "grids" not in content and not re.fullmatch(identity.GRID_NAME, path.stem):
        raise BadInputError(
            f"GRID={name}: a grid is named by its file: letters, digits, dots, dashes and underscores"
        )
    return path, content


def expand(
    name: str,
    overrides: Mapping[str, str] | None = None,
    sampling: Sampling = GRIDS_OWN,
    within: tuple[Path, ...] = (),
    most: Mapping[str, int] | None = None,
) -> Expanded:
    """Return the runs and excluded cells of a grid. overrides: make variables that replace constants.

    within: the grids that contain this one, outermost first. most: as for at_most.
    Raises BadInputError on an unknown axis or value, a grid without cells or within itself, an impossible
    cell that is not excluded, and an exclusion without cells.
    """
    path, content = load(name)
    if "grids" in content:
        chain = (*within, path.resolve())
        if chain[-1] in within:
            raise BadInputError(f"{path}: grids: it names itself: {' > '.join(p.stem for p in chain)}")
        parts = [expand(part, overrides, sampling, chain, most) for part in content["grids"]]
        return Expanded(
            [run for part in parts for run in part.runs], [no for part in parts for no in part.excluded]
        )
    try:
        cells, excluded = cells_of(path, content, overrides or {}, sampling, most or {})
    except BadInputError as error:
        text = str(error)
        # a value of the command line is not the grid's
        given = {own_name(name.lower()) for name in overrides or {}}
        named = text.startswith(str(path)) or own_name(re.split("[=:]", text)[0].lower()) in given
        raise BadInputError(text if named else f"{path}: {text}") from error
    runs = [
        GridRun(path.stem, cell, repeat + 1, of_cell[0])
        for of_cell in cells
        for cell in of_cell
        for repeat in range(sampling.repeats or content.get("repeats", 1))
    ]
    if content.get("order") == "shuffled":
        random.Random(content.get("order_seed", 1)).shuffle(runs)
    return Expanded(runs, excluded)


def run_names(name: str) -> set[str]:
    """Return the names that the runs of a grid have in the database: its own, or those of its grids."""
    return {run.grid for run in expand(name).runs}


def cells_of(
    path: Path,
    content: Mapping[str, Any],
    overrides: Mapping[str, str],
    sampling: Sampling,
    most: Mapping[str, int],
) -> tuple[list[list[Cell]], list[Excluded]]:
    """Return the cells of one grid, each as the list of its samples, and the excluded ones."""
    constants = {**checked(content.get("constants", {})), **checked_overrides(path, content, overrides)}
    exclusions = [(checked_lists(entry["where"]), entry["reason"]) for entry in content.get("exclude", [])]
    used = [False] * len(exclusions)
    seeds = content.get("seeds", [1])
    if sampling.seeds:
        seeds = range(seeds[0], seeds[0] + sampling.seeds)
    cells, excluded = list[list[Cell]](), list[Excluded]()
    for varied in combinations(content):
        settings = at_most({**constants, **varied}, most)
        # an exclusion may name defaults, too
        whole = {axis: str(entry.spec["default"]) for axis, entry in axes().items()} | settings
        matching = [i for i, (where, _) in enumerate(exclusions) if matches(where, whole)]
        for i in matching:
            used[i] = True
        if matching:
            excluded.append(Excluded(path.stem, settings, exclusions[matching[0]][1]))
            continue
        # a grid that varies the engine does not know the workload of the command line
        if "engine" in varied and "WORKLOAD" in overrides:
            only = load_profile("workload", settings["workload"]).get("engines")
            if only and settings["engine"] not in only:
                reason = f"WORKLOAD={settings['workload']} is for {', '.join(only)} only"
                excluded.append(Excluded(path.stem, settings, reason))
                continue
        # a name of the command line as it is there
        typed = {own_name(variable.lower()): variable for variable in overrides}
        variables = {typed.get(name, name.upper()): value for name, value in settings.items()}
        cells.append(samples.cells(variables, seeds, sampling.boards))
    for (where, _), hit in zip(exclusions, used, strict=True):
        if not hit:
            raise BadInputError(f"{path}: exclude: {where}: no cell of this grid is like that")
    if not cells:
        raise BadInputError(f"{path}: no cell is left: all {len(excluded)} are excluded")
    return cells, excluded


def combinations(content: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the varied settings of every combination, in the order written."""
    lists = checked_lists(content.get("axes", {}))
    variants = [checked(variant) for variant in content.get("variants", [{}])]
    for variant in variants:
        if both := sorted(set(variant) & set(lists)):
            raise BadInputError(f"variants: {both[0]}: it is among the axes already")
        for values in itertools.product(*lists.values()):
            yield dict(zip(lists, values, strict=True)) | variant


def checked(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as texts for make variables. Raises BadInputError on an unknown axis or value."""
    return {name: value for name, (value,) in checked_lists(settings, lists=False).items()}


def checked_lists(settings: Mapping[str, Any], lists: bool = True) -> dict[str, list[str]]:
    """Return the same as lists. lists: whether a setting may be a list of values."""
    result: dict[str, list[str]] = {}
    for written, given in settings.items():
        name = own_name(written)
        if name in result:
            raise BadInputError(f"{written}: {name} has a value already; it is one axis")
        axis = axes().get(name)
        if axis is None or name == "seed":
            allowed = [key for key in axes() if key != "seed"]
            near = did_you_mean(name, allowed)
            known = choices(allowed, "make help experiment")
            hint = "set seeds instead" if name == "seed" else f"{near}it is {known}"
            raise BadInputError(f"{name}: unknown axis; {hint}")
        values = given if lists and isinstance(given, list) else [given]
        result[name] = []
        for value in values:
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise BadInputError(
                    f"{name}: {value!r} is neither text nor a whole number (YAML reads an unquoted "
                    "off or on as true or false: quote it)"
                )
            # canonical: without aliases or 1e3
            result[name].append(str(axis.parse(str(value), written.upper())))
    return result


def checked_overrides(path: Path, content: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, str]:
    """Return the constants of the command line; the grid may vary none of them."""
    varied = {
        own_name(name) for names in [content.get("axes", {}), *content.get("variants", [])] for name in names
    }
    for variable in overrides:
        if variable.lower() in varied:
            raise BadInputError(f"{variable}: grid {path.stem} varies it")
    return checked({variable.lower(): text for variable, text in overrides.items()})


def at_most(settings: Mapping[str, Any], most: Mapping[str, int]) -> dict[str, Any]:
    """Return settings limited by `most`, axis → number, but for those that the workload or its file fixes."""
    if not most:
        return dict(settings)
    profile = load_profile("workload", str(settings.get("workload", axes()["workload"].spec["default"])))
    whole = {name: axes()[name].spec["default"] for name in most} | profile.get("defaults", {})
    if "file" in profile:
        whole = {}
    if "synthetic" in profile:
        whole["n"] = synthetic.from_profile(profile["synthetic"]).transactions
    whole = {name: value for name, value in whole.items() if name not in profile.get("fixed", {})}
    whole |= settings
    lower = {name: str(min(int(whole[name]), top)) for name, top in most.items() if name in whole}
    return {**settings, **lower}


def matches(where: Mapping[str, list[str]], settings: Mapping[str, str]) -> bool:
    """Return whether settings have one of the values for each axis of `where`."""
    return all(settings[name] in values for name, values in where.items())
