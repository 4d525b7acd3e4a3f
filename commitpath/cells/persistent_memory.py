"""Persistent memory of a board: whose cells have it, how much, and where what is kept in it is."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from base import identity
from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS
from base.schema import schema
from model import userfile
from model.cell import Cell

# Where its filesystem is mounted on a board (playbooks/persistent.yml).
MOUNTPOINT = "/mnt/persistent"
# Linux wants its size in steps of 16 MiB (memremap_compat_align); these are so large that boards of most logs
# are one.
STEP_MIB = 64
# For the filesystem itself: a journal of 4 MiB, and its tables.
FILESYSTEM_MIB = 32


def of_engine(cell: Cell) -> Mapping[str, Any]:
    """What the cell's engine can keep in persistent memory (experiments/engine/); empty: nothing."""
    return _of_engine(str(cell.engine))


# Read once: a grid makes hundreds of cells. Nobody changes what it returns.
@functools.cache
def _of_engine(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = load_yaml(EXPERIMENTS / "engine" / f"{name}.yml").get("persistent", {})
    return found


def asked(cell: Cell) -> tuple[str, Mapping[str, Any]] | None:
    """(variable with its value, of_engine), where the cell keeps something in it; None: it does not."""
    if cell.load != identity.DRIVER:
        return None
    engine = of_engine(cell)
    if not engine or cell.value(engine["axis"]) not in engine["values"]:
        return None
    return f"{engine['axis'].upper()}={cell.value(engine['axis'])}", engine


def mib(cell: Cell) -> int:
    """MiB of persistent memory that a cell's board has."""
    if not (found := asked(cell)):
        return 0
    logs = userfile.databases(cell.profiles.get("file", {}))
    need = -(-int(cell.value(found[1]["bytes"])) * logs // 2**20) + FILESYSTEM_MIB
    return -(-need // STEP_MIB) * STEP_MIB


def check(cell: Cell, variables: Mapping[str, str]) -> None:
    """Refuse persistent memory where there is none, and its knobs where nothing is kept in it."""
    engine, found = of_engine(cell), asked(cell)
    for name in engine.get("knobs", ()):
        if name.upper() in variables and not found:
            axis = engine["axis"]
            raise BadInputError(
                f"{name.upper()}={cell.value(name)}: {axis.upper()}={cell.value(axis)} keeps nothing in "
                f"persistent memory; use {axis.upper()}={' or '.join(engine['values'])}"
            )
    if found and cell.board != "virtual":
        raise BadInputError(
            f"{found[0]}: BOARD={cell.board} has no persistent memory; only the virtual board has"
        )


def in_files(cell: Cell) -> Cell:
    """The cell with a file in the place of what it keeps in persistent memory: the bytes are the same."""
    if not (found := asked(cell)):
        return cell
    axis = found[1]["axis"]
    return replace(cell, **{axis: schema()["properties"][axis]["default"]})
