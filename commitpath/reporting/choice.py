"""List the cells that `make advise` chooses among; find the measured ones, and those that RUN=yes runs."""

import re
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from base.errors import BadInputError
from base.identity import FIRST_ENGINE
from base.paths import EXPERIMENTS
from base.text import UNBROKEN
from commitpath.cells import crash_refusals, transaction_files
from commitpath.cells.axes import axes, newest
from commitpath.cells.data_files import load
from commitpath.cells.grid import Excluded, expand
from commitpath.cells.profiles import load_profile
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.results import query
from commitpath.results.query import Results
from commitpath.sweep import sweep_plan
from commitpath.sweep.sweep_plan import Planned
from model import engines
from model.cell import SAMPLED, Cell

# The axes that an app developer chooses; all others are where and with what it was measured.
CHOSEN = (
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "wal_autocheckpoint",
    "journal_size_limit",
    "checkpoint_every",
)
# Chosen, too, with the value ANY.
WITH_ANY = ("ENGINE", "FS")
ANY = "any"
# The failure that only trials answer.
POWER = "power"
# SURVIVE → trials of it.
FAILURES = {"process": "kills", "os": "crashes of the system", POWER: "power cuts"}
# Axes that a setting is always named by, if they are chosen.
NAMED = ("engine", "fs", "journal_mode", "synchronous")
# The axes in which a cell differs from its trials.
CUTS = ("crash", "cuts", "cut_seed")
# Most missing settings that are listed for a reason.
LISTED = 4
Key = tuple[str, ...]


def needs() -> dict[str, Any]:
    """Return experiments/advice.yml."""
    return load(EXPERIMENTS / "advice.yml", "advice")


def chosen(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the axes that a developer chooses; with ENGINE=any those of all engines."""
    every = [name for name in WITH_ANY if given.get(name) == ANY]
    of_engines = sorted(engines.axes()) if "ENGINE" in every else []
    return tuple(dict.fromkeys([*map(str.lower, every), *CHOSEN, *of_engines]))


def key(settings: Mapping[str, Any], names: Sequence[str]) -> Key:
    """Return a cell's values of the chosen axes, none of those that its engine lacks."""
    lacks = engines.unused_axes(str(settings.get("engine", FIRST_ENGINE)))
    return tuple(select.NONE if name in lacks else str(settings.get(name, select.NONE)) for name in names)


def words(cell: Cell, names: Collection[str], named: Collection[str] = NAMED) -> dict[str, str]:
    """Return make's variables that set these axes: those at a default only if they are `named`."""
    lacks = engines.unused_axes(cell.engine)
    values = {name: str(cell.value(name)) for name in axes() if name in names and name not in lacks}
    return {
        axes()[name].also or axes()[name].variable: value
        for name, value in values.items()
        if name in named or value not in defaults(name)
    }


def defaults(name: str) -> set[str]:
    """Return the default of an axis as in a command and as in a cell."""
    return {str(axes()[name].spec["default"]), *([newest()] if name == "sqlite" else [])}


def planned(given: Mapping[str, str], failure: str) -> tuple[dict[str, Planned], list[Excluded]]:
    """Return the cells that measure the choice with the given axes, and those that are excluded.

    A size that the workload sets itself, such as the rows of WORKLOAD=sql, is not set. Raises BadInputError
    for an engine other than the grid's.
    """
    every = {name for name in WITH_ANY if given.get(name) == ANY}
    if "ENGINE" not in every and select.spelled("engine", given.get("ENGINE", FIRST_ENGINE)) != FIRST_ENGINE:
        raise BadInputError(
            f"ENGINE={given['ENGINE']}: `make advise` measures ENGINE={FIRST_ENGINE} alone, or all engines: "
            f"use ENGINE={ANY}, with RUN=yes for missing runs"
        )
    name = given.get("WORKLOAD", str(axes()["workload"].spec["default"])).partition("#")[0]
    workload = load_profile("workload", name)
    sizes = {"crash": failure, **needs()["trials"]}
    fixed = {*workload.get("fixed", {}), *(["n"] if transaction_files.is_of_file(workload) else [])}
    if failure != POWER and not has_trials(given, failure):
        fixed |= {"crash", "cuts"}
    variables = {axis.upper(): str(value) for axis, value in sizes.items() if axis not in fixed}
    variables |= {name: text for name, text in given.items() if name not in every}
    places = [{"FS": fs} for fs in needs()["any_fs"]] if "FS" in every else [{}]
    grid = needs()["any_engine" if "ENGINE" in every else "grid"]
    try:
        return sweep_plan.merge(expand(grid, {**variables, **place}) for place in places)
    except BadInputError as error:
        # the user named it SURVIVE
        text = re.sub("CRASH=(process|os|power)", r"SURVIVE=\1", str(error))
        raise BadInputError(text) from error


def has_trials(given: Mapping[str, str], failure: str) -> bool:
    """Return whether a failure can be tried: not on a real board or clock, or a device without history."""
    device = given.get("DEVICE", str(axes()["device"].spec["default"])).partition("#")[0]
    history = failure == "process" or crash_refusals.keeps_history(select.spelled("device", device))
    return history and not {"BOARD", "CLOCK"} & given.keys()


@dataclass(frozen=True)
class Choice:
    """The cells of the choice, and those that are to be run: label → reason, in `missing`.

    number: how many are measured; others: how many settings that are not of the choice are. trials: what
    cells are to be tried by, None if they are not tried.
    """

    cells: Mapping[str, Planned]
    excluded: Sequence[Excluded]
    missing: Mapping[str, str]
    number: int
    others: int
    trials: str | None
    todo: dict[str, Planned] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return how many settings are measured, how long the others take, and why they are missing."""
        more = f"; and {self.others} other settings" if self.others else ""
        lines = [f"{self.measured}{more}"]
        if self.todo:
            boards = sweep_plan.with_bases(run.group for run in self.todo.values())
            to_prepare = len(boards) * needs()["board_seconds"] / 60
            minutes = len(self.todo) * needs()["seconds"] / 60 + to_prepare
            lines.append(
                f"  RUN=yes runs {len(self.todo)} cells: about {minutes:.0f} min on two CPUs, "
                f"{to_prepare:.0f} of them for {len(boards)} boards if none is prepared"
            )
        for reason in dict.fromkeys(self.missing.values()):
            labels = [label for label, why in self.missing.items() if why == reason]
            rest = [f"and {len(labels) - LISTED} more"] if len(labels) > LISTED + 1 else labels[LISTED:]
            head = "not run yet" if reason == query.NOT_RUN else f"missing, {reason}"
            lines.append(f"  {head}: {'; '.join([*labels[:LISTED], *rest])}")
        for reason in dict.fromkeys(entry.reason for entry in self.excluded):
            number = sum(entry.reason == reason for entry in self.excluded)
            lines.append(f"  left out, {number}: {reason}")
        return lines

    @property
    def measured(self) -> str:
        """The number of measured settings, in words; of tried ones, if these are fewer."""
        tried = len(self.cells) - len(self.todo)
        words = f", {tried} of them tried by {self.trials}" if self.trials and tried < self.number else ""
        return f"{self.number} of {len(self.cells)} settings of the choice are measured{words}"

    def check(self) -> None:
        """Raise BadInputError if too few settings are measured for advice."""
        share = needs()["least_share"]
        if len(self.cells) - len(self.todo) < share * len(self.cells):
            raise BadInputError(
                f"advice needs {100 * share:.0f} % of the choice (experiments/advice.yml); RUN=yes runs "
                "the others"
            )


def choice(
    cells: Mapping[str, Planned],
    excluded: Sequence[Excluded],
    results: Results,
    alike: Sequence[Run],
    measured: Set[Key],
    tried: Set[Key] | None,
    names: Sequence[str],
    failure: str,
) -> Choice:
    """Return which settings are measured, and tried: their keys, None if none need be.

    alike: the runs of `measured`. names: of the key.
    """
    keys = {name: key(dict(run.cell.axes()), names) for name, run in cells.items()}
    there = measured if tried is None else tried
    todo = {name: run for name, run in cells.items() if keys[name] not in there}
    missing = {}
    for name, run in todo.items():
        found = results.find(run.cell)
        other = differences(found.runs[-1], alike[-1], names) if found.runs and alike else []
        reason = found.reason or f"measured with other {', '.join(other) or 'settings'}"
        if found.state in ("ok", "missing") and keys[name] in measured:
            reason = f"not tried by {FAILURES[failure]}"
        missing[text(words(run.cell, names)).replace(" ", UNBROKEN)] = reason
    number = sum(each in measured for each in keys.values())
    others = len(measured - {*keys.values()})
    return Choice(
        cells, excluded, missing, number, others, None if tried is None else FAILURES[failure], todo
    )


def differences(run: Run, other: Run, names: Sequence[str]) -> list[str]:
    """Return the axes of both runs, but those of a choice (names), in which they differ, and the kernel's."""
    varied = [name for name in select.varying([run, other]) if name not in (*names, *CUTS, *SAMPLED)]
    both = [name for name in varied if name in run.settings and name in other.settings]
    return [*both, *(["uname"] if run.facts["uname"] != other.facts["uname"] else [])]


def text(variables: Mapping[str, str]) -> str:
    """Return variables as `MODE=wal SYNC=full`."""
    return " ".join(f"{name}={value}" for name, value in variables.items())
