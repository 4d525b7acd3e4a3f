"""The settings that there are to choose among, and of which of them it was measured what a failure takes."""

import shlex
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from base.errors import BadInputError
from base.paths import EXPERIMENTS
from commitpath.cells import transaction_files
from commitpath.cells.axes import axes
from commitpath.cells.data_files import load
from commitpath.cells.profiles import load_profile
from commitpath.database import select
from commitpath.results.query import Results
from commitpath.sweep.grid import expand

# What an app developer sets; all else of a cell is where and with what it was measured.
CHOSEN = (
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "wal_autocheckpoint",
    "journal_size_limit",
    "checkpoint_every",
)
# The failure of which trials alone are believed.
POWER = "power"
Key = tuple[str, ...]


def needs() -> dict[str, Any]:
    """experiments/advice.yml."""
    return load(EXPERIMENTS / "advice.yml", "advice")


def key(settings: Mapping[str, Any]) -> Key:
    """Which choice a cell is of."""
    return tuple(str(settings.get(name, select.NONE)) for name in CHOSEN)


def sweep(given: Mapping[str, str], failure: str) -> dict[str, str]:
    """Return the variables of `make sweep` that measure the choice where `given` says.

    A size that the workload sets itself, such as the rows of WORKLOAD=sql, is not among them.
    """
    tried: dict[str, Any] = {"crash": failure, **needs()["trials"]} if failure == POWER else {}
    name = given.get("WORKLOAD", str(axes()["workload"].spec["default"])).partition("#")[0]
    workload = load_profile("workload", name)
    own = {*workload.get("fixed", {}), *(["n"] if transaction_files.is_of_file(workload) else [])}
    tried = {axis: value for axis, value in tried.items() if axis not in own}
    return {"GRID": needs()["grid"], **{name.upper(): str(value) for name, value in tried.items()}, **given}


def command(variables: Mapping[str, str]) -> str:
    """Return the command that starts a sweep, for a shell."""
    return " ".join(["make sweep", *(f"{name}={shlex.quote(text)}" for name, text in variables.items())])


@dataclass(frozen=True)
class Choice:
    """measured: settings of the grid that have trials; missing: the others, and why; swept by: the sweep
    that measures them."""

    measured: int
    missing: dict[str, str]
    swept_by: dict[str, str]

    @property
    def settings(self) -> int:
        """How many there are."""
        return self.measured + len(self.missing)

    def told(self) -> list[str]:
        """Which are not measured, why, and what a sweep of them would take."""
        lines = [f"{self.measured} of {self.settings} settings of the choice have trials"]
        lines += [f"  left out: {setting}: {why}" for setting, why in self.missing.items()]
        if self.missing:
            minutes = len(self.missing) * needs()["seconds"] / 60
            lines.append(
                f"  {command(self.swept_by)} tries them: {len(self.missing)} cells, about "
                f"{max(round(minutes), 1)} min on two CPUs, and 2 min for a board that is not prepared"
            )
        return lines

    def check(self) -> None:
        """Refuse to advise from a small part of the choice. Raises BadInputError."""
        if self.measured < needs()["least_share"] * self.settings:
            raise BadInputError(
                f"{self.told()[0]}, and advice is of {needs()['least_share']:.0%} at least "
                f"(experiments/advice.yml); RUN=yes tries the others"
            )


def choice(swept_by: dict[str, str], results: Results, tried: Set[Key]) -> Choice:
    """What of the choice is measured. tried: the settings that have trials."""
    of_grid = {name: text for name, text in swept_by.items() if name != "GRID"}
    found = {key(dict(run.cell.axes())): run.cell for run in expand(swept_by["GRID"], of_grid).runs}
    names = [name for at, name in enumerate(CHOSEN) if len({one[at] for one in found}) > 1]
    missing = {}
    for setting, cell in found.items():
        if setting not in tried:
            why = results.find(cell).reason
            label = " ".join(f"{name}={cell.value(name)}" for name in names)
            missing[label] = why or "its trials are of another kernel"
    return Choice(len(found) - len(missing), missing, swept_by)
