"""Load experiments/observer/*.yml, and list the observers (recorders of events) of a cell's runs.

playbooks/observers/<name>.sh runs one on a board, analysis/observers/<name>.py reads its files.
"""

import functools
from collections.abc import Collection, Iterable
from typing import Any

from base.paths import EXPERIMENTS
from commitpath.cells import data_files

FOLDER = EXPERIMENTS / "observer"


@functools.cache
def profiles() -> dict[str, dict[str, Any]]:
    """Return every observer's profile, by name."""
    return {path.stem: data_files.load(path, "observer") for path in sorted(FOLDER.glob("*.yml"))}


def names() -> list[str]:
    """Return the names of all observers."""
    return list(profiles())


def scripted() -> dict[str, str]:
    """Return the observers that run a user's script, with the suffix of its name."""
    return {name: profile["script"] for name, profile in profiles().items() if "script" in profile}


def on_board(probes: Iterable[str]) -> list[str]:
    """Return the observers on a virtual board; with a user's script only if the cell's probes name it."""
    return [name for name in names() if name not in scripted() or name in set(probes)]


def packages(probes: Iterable[str]) -> list[str]:
    """Return the Debian packages of observers that only some boards have."""
    extra = set(on_board(probes)) & scripted().keys()
    return sorted({package for name in extra for package in profiles()[name]["packages"]})


def optional() -> list[str]:
    """Return the observers that PROBES may name; the others are automatic, or come with a script."""
    return [
        name
        for name, profile in profiles().items()
        if profile["watches"] != "watched" and "script" not in profile
    ]


def automatic(logged: bool) -> list[str]:
    """Return the observers of each watched run. logged: whether its device keeps a log."""
    when = {"watched", *([] if logged else ["unlogged"])}
    return [name for name, profile in profiles().items() if profile["watches"] in when]


def watching(probes: Collection[str], logged: bool) -> list[str]:
    """Return the observers of a run in their starting order. probes: the cell's.

    A user's script is last, so that its work at an event follows the records of the others.
    """
    wanted = {*probes, *automatic(logged)} if probes else set[str]()
    return sorted(wanted.intersection(names()), key=lambda name: (name in scripted(), name))
