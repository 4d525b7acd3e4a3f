"""Observers: experiments/observer/*.yml, and which of them watch a cell's runs.

What an observer does on a board is in playbooks/observers/<name>.sh, what is read of it in
analysis/observers/<name>.py.
"""

import functools
from collections.abc import Iterable
from typing import Any

from base.paths import EXPERIMENTS
from commitpath.cells import data_files

FOLDER = EXPERIMENTS / "observer"


@functools.cache
def profiles() -> dict[str, dict[str, Any]]:
    """Every observer, by name."""
    return {path.stem: data_files.load(path, "observer") for path in sorted(FOLDER.glob("*.yml"))}


def names() -> list[str]:
    """Every observer there is."""
    return list(profiles())


def scripted() -> dict[str, str]:
    """Those that run a script of the user's, with the end of its name."""
    return {name: profile["script"] for name, profile in profiles().items() if "script" in profile}


def on_board(probes: Iterable[str]) -> list[str]:
    """Those that a virtual board has, whatever it is asked to run: one of a user's script only if the
    cell's probes name it."""
    return [name for name in names() if name not in scripted() or name in set(probes)]


def packages(probes: Iterable[str]) -> list[str]:
    """The Debian packages of those that not every board has."""
    extra = set(on_board(probes)) & scripted().keys()
    return sorted({package for name in extra for package in profiles()[name]["packages"]})


def optional() -> list[str]:
    """Those that PROBES may name: the others watch each watched run, or come with a script."""
    return [
        name
        for name, profile in profiles().items()
        if profile["watches"] != "watched" and "script" not in profile
    ]


def unnamed(logged: bool) -> list[str]:
    """Those that watch a watched run without being named; logged: its device keeps a log."""
    when = {"watched", *([] if logged else ["unlogged"])}
    return [name for name, profile in profiles().items() if profile["watches"] in when]


def watching(probes: Iterable[str], logged: bool) -> list[str]:
    """Those that watch a run, in the order in which they begin; probes: as the cell names them.

    A script of the user's is the last: what it does at an event then lies behind what the others note.
    """
    asked = set(probes)
    there = sorted(names(), key=lambda name: name in scripted())
    return [name for name in there if asked and (name in asked or name in unnamed(logged))]
