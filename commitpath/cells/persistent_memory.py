"""Persistent memory of a virtual board: cells that use it, size, the cell without it; not on lab boards."""

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
# Linux needs steps of 16 MiB (memremap_compat_align); with larger ones, cells of most logs share a board.
STEP_MIB = 64
# For the filesystem itself: a journal of 4 MiB, and its tables.
FILESYSTEM_MIB = 32


# Cached: a grid makes hundreds of cells. Callers do not modify the result.
@functools.cache
def of_engine(engine: str) -> Mapping[str, Any]:
    """Return `persistent` of an engine's profile; empty if it never uses persistent memory."""
    persistent: Mapping[str, Any] = load_yaml(EXPERIMENTS / f"engine/{engine}.yml").get("persistent", {})
    return persistent


def use(cell: Cell) -> tuple[str, Mapping[str, Any]] | None:
    """Return (variable with its value, of_engine) of a cell that uses persistent memory; None otherwise."""
    if cell.load != identity.DRIVER:
        return None
    engine = of_engine(str(cell.engine))
    if not engine or cell.value(engine["axis"]) not in engine["values"]:
        return None
    return f"{engine['axis'].upper()}={cell.value(engine['axis'])}", engine


def mib(cell: Cell) -> int:
    """Return the size of the persistent memory of a cell's board, in MiB."""
    if not (used := use(cell)):
        return 0
    logs = userfile.databases(cell.profiles.get("file", {}))
    need = -(-int(cell.value(used[1]["bytes"])) * logs // 2**20) + FILESYSTEM_MIB
    return -(-need // STEP_MIB) * STEP_MIB


def check(cell: Cell) -> None:
    """Refuse persistent memory on a lab board."""
    if (used := use(cell)) and cell.board != "virtual":
        raise BadInputError(
            f"{used[0]}: BOARD={cell.board} has no persistent memory; only the virtual board has"
        )


def in_files(cell: Cell) -> Cell:
    """Return the cell with files, of equal bytes, instead of persistent memory."""
    if not (used := use(cell)):
        return cell
    axis = used[1]["axis"]
    return replace(cell, **{axis: schema()["properties"][axis]["default"]})
