"""Observers: experiments/observer/*.yml, and which of them watch a cell's runs.

What an observer does on a board is in playbooks/observers/<name>.sh, what is read of it in
analysis/observers/<name>.py.
"""

import functools
from collections.abc import Iterable
from typing import Any

from base.paths import EXPERIMENTS
from commitpath import schema

FOLDER = EXPERIMENTS / "observer"


@functools.cache
def profiles() -> dict[str, dict[str, Any]]:
    """Every observer, by name."""
    return {path.stem: schema.load(path, "observer") for path in sorted(FOLDER.glob("*.yml"))}


def names() -> list[str]:
    """Every observer there is."""
    return list(profiles())


def optional() -> list[str]:
    """Those that a cell may name among its probes: the others watch each watched run."""
    return [name for name, profile in profiles().items() if profile["watches"] != "watched"]


def unnamed(logged: bool) -> list[str]:
    """Those that watch a watched run without being named; logged: its device keeps a log."""
    when = {"watched", *([] if logged else ["unlogged"])}
    return [name for name, profile in profiles().items() if profile["watches"] in when]


def watching(probes: Iterable[str], logged: bool) -> list[str]:
    """Those that watch a run, in the order in which they begin; probes: as the cell names them."""
    asked = set(probes)
    return [name for name in names() if asked and (name in asked or name in unnamed(logged))]
