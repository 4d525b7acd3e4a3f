"""`make advise`: recommend engine settings from stored runs by speed, wear, loss; RUN=yes runs missing cells.

What survives a power failure is measured by trials only; another failure also by what the settings promise.
"""

import functools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from base.errors import BadInputError, LabError
from base.text import filled, printable_lines
from commitpath.command_line.stored_run import NO_RUNS
from commitpath.command_line.variables import axes_of
from commitpath.database.select import Run
from commitpath.reporting import answer, limits
from commitpath.reporting.candidates import Setting, comparable, settings
from commitpath.reporting.choice import ANY, POWER, WITH_ANY, Choice, Key, choice, chosen, key, planned
from commitpath.reporting.limits import SURVIVE, Limits
from commitpath.reporting.trials import unpaced
from commitpath.results import query
from commitpath.results.query import Results


@dataclass(frozen=True)
class Measured:
    """The runs with the given axes, the settings that they measure, and what the choice lacks.

    notes: on the runs that are left out.
    """

    runs: Sequence[Run]
    settings: Sequence[Setting]
    choice: Choice
    results: Results
    notes: Sequence[str]


def advise(options: dict[str, str]) -> int:
    """Print what of the choice is measured, and the answer; RUN=yes first runs the missing cells.

    Return 1 if one of these failed or was rejected.
    """
    if missing := [name for name in ("FS", "SURVIVE") if name not in options]:
        raise BadInputError(
            f"{' and '.join(missing)}: missing; make advise takes FS=<filesystem>|{ANY}, "
            f"SURVIVE={'|'.join(SURVIVE)} (what the data must survive); make help advise has the others"
        )
    wanted = limits.read(options)
    if "RUN" in options or "JOBS" in options:
        # loaded late: it loads Snakemake's and Ansible's parts
        from commitpath.sweep import drive

        drive.whole_number(options, "JOBS", 1, 1)
    names = axes_of("advise")
    given = {
        name: ANY if name in WITH_ANY and text.casefold() == ANY else text
        for name, text in options.items()
        if name in names
    }
    found, code = measured(given, wanted.failure, options.get("LAB")), 0
    show([*found.choice.lines(), *found.notes])
    if "RUN" in options and found.choice.todo:
        code = drive.carry_out(found.choice.todo, [], options, whole=False)
        found = measured(given, wanted.failure, options.get("LAB"))
        show([*found.choice.lines(), *found.notes])
        if code and not found.settings:
            raise LabError("none of the cells has an accepted run")
    try:
        print_answer(found, wanted, given, options)
    except BadInputError as error:
        # with a code, cells were run: the request is valid
        raise (LabError(str(error)) if code else error) from None
    return code


def print_answer(
    found: Measured, wanted: Limits, given: Mapping[str, str], options: Mapping[str, str]
) -> None:
    """Print the answer. Raises BadInputError if there is none."""
    if not found.results.every:
        raise BadInputError(f"RUN=yes runs these cells; {NO_RUNS}")
    if not found.settings:
        raise BadInputError("settings of the choice: no run is like them; RUN=yes runs them")
    if wanted.failure == POWER:
        found.choice.check()
    kept = [setting for setting in found.settings if setting.fits(wanted)]
    if not kept:
        raise BadInputError(unkept(found.settings, options))
    lines = answer.lines(found.settings, kept, wanted, chosen(given), found.results, given)
    print(printable_lines(lines))
    show(unpaced(wanted.loss, found.runs))


def show(texts: Sequence[str]) -> None:
    """Print texts in lines of a terminal."""
    if texts:
        print(printable_lines(line for text in texts for line in filled(text, "    ")))


def measured(given: dict[str, str], failure: str, lab: str | None) -> Measured:
    """Return what the database has of the choice."""
    results = query.current().of_lab(lab)
    names = chosen(given)

    @functools.cache
    def keys_of(device: str) -> Set[Key]:
        try:
            cells, _ = planned({"DEVICE": device, **given}, failure)
        except BadInputError:
            # it is raised below, if this device is the answer's
            return frozenset()
        return {key(dict(cell.cell.axes()), names) for cell in cells.values()}

    alike, notes = comparable(given, results.counted, results.lab, names, keys_of)
    found = settings(alike, results.counted, failure, names)
    # without DEVICE, the runs give it
    place = {"DEVICE": alike[0].cell.device} if alike else {}
    cells, excluded = planned({**place, **given}, failure)
    if "DEVICE" not in given:
        device = next(iter(cells.values())).cell.device
        notes.insert(0, f"  no DEVICE was named: this is for {device}")
    tried = any(run.cell.crash != "none" for run in cells.values())
    keys = {setting.key for setting in found}
    tried_keys = {setting.key for setting in found if setting.trials} if tried else None
    chosen_cells = choice(cells, excluded, results, alike, keys, tried_keys, names, failure)
    return Measured(alike, found, chosen_cells, results, notes)


def unkept(found: Sequence[Setting], options: Mapping[str, str]) -> str:
    """Return why no setting is within the limits."""
    asked = " ".join(
        f"{name}={options[name]}" for name in ("SURVIVE", "LOSE_AT_MOST", "P99_BELOW") if name in options
    )
    within: list[str] = []
    for name, wider in (("LOSE_AT_MOST", {"LOSE_AT_MOST": ANY}), ("P99_BELOW", {})):
        if name not in options and name != "LOSE_AT_MOST":
            continue
        fewer: Limits = limits.read({key: text for key, text in options.items() if key != name} | wider)
        number = sum(setting.fits(fewer) for setting in found)
        within.append(f"{number} with {'any loss' if wider else 'any p99'}")
    untried = sum(setting.trials is None for setting in found)
    return (
        f"{asked}: none of the {len(found)} measured settings is within these limits; "
        f"{' and '.join(within)}; {untried} have no trials, which RUN=yes makes"
    )
