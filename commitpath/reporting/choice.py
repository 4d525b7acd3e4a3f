"""The settings that `make advise` chooses among, and how many of them have trials."""

import shlex
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from base.errors import BadInputError
from base.identity import FIRST_ENGINE
from base.paths import EXPERIMENTS
from commitpath.cells import transaction_files
from commitpath.cells.axes import axes
from commitpath.cells.data_files import load
from commitpath.cells.profiles import load_profile
from commitpath.database import select
from commitpath.results.query import Results
from commitpath.sweep.grid import expand
from model import engines

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
# ENGINE of a choice among all engines.
ANY = "any"
# The failure that only trials answer.
POWER = "power"
Key = tuple[str, ...]


def needs() -> dict[str, Any]:
    """Return experiments/advice.yml."""
    return load(EXPERIMENTS / "advice.yml", "advice")


def chosen(any_engine: bool) -> tuple[str, ...]:
    """Return the axes that a developer chooses: of one engine, or the engine and those of all engines."""
    return tuple(dict.fromkeys(["engine", *CHOSEN, *sorted(engines.axes())])) if any_engine else CHOSEN


def key(settings: Mapping[str, Any], names: Sequence[str]) -> Key:
    """Return a cell's values of the chosen axes, none of those that its engine lacks."""
    lacks = engines.unused_axes(str(settings.get("engine", FIRST_ENGINE)))
    return tuple(select.NONE if name in lacks else str(settings.get(name, select.NONE)) for name in names)


def sweep(given: Mapping[str, str], failure: str) -> dict[str, str]:
    """Return the variables of `make sweep` that measure the choice with the given axes, or ENGINE=any.

    A size that the workload sets itself, such as the rows of WORKLOAD=sql, is not among them. Raises
    BadInputError for another engine than that of the grid.
    """
    any_engine = given.get("ENGINE") == ANY
    if not any_engine and select.spelled("engine", given.get("ENGINE", FIRST_ENGINE)) != FIRST_ENGINE:
        every = command(sweep({**given, "ENGINE": ANY}, failure))
        raise BadInputError(
            f"ENGINE={given['ENGINE']}: `make advise` measures ENGINE={FIRST_ENGINE} alone, or all engines: "
            f"use ENGINE={ANY}, with RUN=yes for what is missing ({every})"
        )
    sizes: dict[str, Any] = {"crash": failure, **needs()["trials"]} if failure == POWER else {}
    name = given.get("WORKLOAD", str(axes()["workload"].spec["default"])).partition("#")[0]
    workload = load_profile("workload", name)
    fixed = {*workload.get("fixed", {}), *(["n"] if transaction_files.is_of_file(workload) else [])}
    sizes = {axis.upper(): str(value) for axis, value in sizes.items() if axis not in fixed}
    axes_given = {name: text for name, text in given.items() if not (any_engine and name == "ENGINE")}
    return {"GRID": needs()["any_engine" if any_engine else "grid"], **sizes, **axes_given}


def command(variables: Mapping[str, str]) -> str:
    """Return the command that starts a sweep, for a shell."""
    return " ".join(["make sweep", *(f"{name}={shlex.quote(text)}" for name, text in variables.items())])


@dataclass(frozen=True)
class Choice:
    """measured: number of settings with trials; missing: the others → why; swept_by: the sweep of all."""

    measured: int
    missing: dict[str, str]
    swept_by: dict[str, str]

    def lines(self) -> list[str]:
        """Return which settings are not measured, why, and how long a sweep of them takes."""
        total = self.measured + len(self.missing)
        lines = [f"{self.measured} of {total} settings of the choice have trials"]
        lines += [f"  left out: {setting}: {why}" for setting, why in self.missing.items()]
        if self.missing:
            minutes = len(self.missing) * needs()["seconds"] / 60
            lines.append(
                f"  {command(self.swept_by)} tries them: {len(self.missing)} cells, about "
                f"{max(round(minutes), 1)} min on two CPUs, and 2 min for a board that is not prepared"
            )
        return lines

    def check(self) -> None:
        """Raise BadInputError if too few settings are measured for advice."""
        share = needs()["least_share"]
        if self.measured < share * (self.measured + len(self.missing)):
            raise BadInputError(
                f"{self.lines()[0]}, and advice is of {share:.0%} at least (experiments/advice.yml); RUN=yes "
                "tries the others"
            )


def choice(
    swept_by: dict[str, str], results: Results, tried: Set[Key], names: Sequence[str] = CHOSEN
) -> Choice:
    """Return which settings of a sweep are measured. tried: those that have trials; names: of the key."""
    given = {name: text for name, text in swept_by.items() if name != "GRID"}
    cells = {key(dict(run.cell.axes()), names): run.cell for run in expand(swept_by["GRID"], given).runs}
    shown = [name for at, name in enumerate(names) if len({setting[at] for setting in cells}) > 1]
    missing = {
        " ".join(
            f"{name}={cell.value(name)}" for name in shown if name not in engines.unused_axes(cell.engine)
        ): results.find(cell).reason or "its trials are of another kernel"
        for setting, cell in cells.items()
        if setting not in tried
    }
    return Choice(len(cells) - len(missing), missing, swept_by)
