"""Which release recorded a run: by what no earlier one left, not by what the run says of itself.

A run may lack what its release did not record, and nothing else. So one sign of a release is enough: what it
leaves must then be there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from analysis import observers
from analysis.adapters.driver import Driver
from analysis.adapters.drivertables import USAGE
from analysis.expected import VIRTUAL
from base.data import load_yaml
from base.identity import RULE
from base.paths import EXPERIMENTS

if TYPE_CHECKING:
    from analysis.adapters.board import Board
    from analysis.run import Run


class Release(IntEnum):
    """What was recorded from then on."""

    CELLS = 0  # cell ids by rule 1
    PLANS = 1  # ids by rule 2, raw/plan.json, who watched
    MEMORY = 2  # a virtual board has memory for what observers keep
    USAGE = 3  # the driver's time on the CPU, pages that are logged, and how its calls ended


# of the first plan that is made where all of this is recorded (commitpath/plan.py); and checks that were new
# when earlier plans began to name what must be there
_PLAN_FORMAT, CHECKS = 2, {"phases.cpu_time", "failures.none"}
# MiB of a virtual board's memory beside its device's and its observers' (images/qemu.py)
BOARD_MIB = 1536
# Of its memory the kernel keeps 1/64 for what it notes of each page, and has its own beside that: 113 to 116
# MiB on boards of 3584 and 4136 MiB.
_PAGES, _KERNEL_KIB = 64, 256 << 10


def is_virtual(run: Run) -> bool:
    """Whether the run is one of a virtual board: by its cell's board, or by a clock that no other has."""
    return VIRTUAL in (run.cell.get("board", VIRTUAL), run.cell.get("clock"), run.board.run.get("clock"))


def keeping(cell: Mapping[str, Any]) -> dict[str, int]:
    """Return the MiB of a cell's virtual board that each observer has, of those that have such.

    One that runs a script of the user's has them on the boards of cells that have a script.
    """
    found = {path.stem: load_yaml(path) for path in sorted((EXPERIMENTS / "observer").glob("*.yml"))}
    scripts = cell["profiles"].get("observers", {})
    return {
        name: one["memory_mib"]
        for name, one in found.items()
        if one.get("memory_mib") and ("script" not in one or name in scripts)
    }


def provided(run: Run, board: Board) -> list[frozenset[str]] | None:
    """Return for which sets of observers a virtual board had memory, by MemTotal; None: it does not say."""
    size = run.cell["profiles"].get("device", {}).get("size_mib")
    total = re.search(r"^MemTotal:\s+([0-9]{1,12}) kB$", board.texts.get("meminfo", ""), re.MULTILINE)
    if not is_virtual(run) or not isinstance(size, int) or total is None:
        return None
    kept, had = keeping(run.cell), int(total[1])
    sets = chain.from_iterable(combinations(kept, number) for number in range(len(kept) + 1))
    memory = {
        frozenset(names): (BOARD_MIB + size + sum(kept[name] for name in names)) << 10 for names in sets
    }
    return [names for names, kib in memory.items() if kib - kib // _PAGES - _KERNEL_KIB <= had <= kib]


def signs(run: Run) -> dict[Release, str]:
    """Return the releases of which something is in the run, and what."""
    boards = [run.board, *([run.twin.board] if run.twin else [])]
    drivers = [run.driver, *([run.twin.driver] if run.twin else [])]
    found: dict[Release, str] = {}
    if any("observers" in board.run for board in boards):
        found[Release.PLANS] = "raw/run.json says who watched"
    if run.cell_id.startswith(RULE):
        found[Release.PLANS] = "cell.json is by rule 2"
    if run.plan is not None:
        found[Release.PLANS] = "there is raw/plan.json"
    if any((sets := provided(run, board)) and frozenset() not in sets for board in boards):
        found[Release.MEMORY] = "its board has memory for what observers keep"
    if said := _usage(run, drivers):
        found[Release.USAGE] = said
    return found


def _usage(run: Run, drivers: list[Driver]) -> str | None:
    plan, vfs = run.plan or {}, run.driver.vfs
    if plan.get("format", 0) >= _PLAN_FORMAT or CHECKS & set(plan.get("checks", ())):
        return "its plan names what is recorded"
    if any(set(USAGE) & set(driver.phases.columns) for driver in drivers):
        return "phases.csv says what the driver used of the CPU"
    return "vfs.csv says how the calls ended" if vfs is not None and "result" in vfs.columns else None


def release(run: Run) -> Release:
    """Return the release that recorded the run: the last of which there is a sign."""
    return max(signs(run), default=Release.CELLS)


def watching(run: Run) -> list[str]:
    """Return the observers that each watched run of the run's release has."""
    logged = run.log is not None
    known = [(name, observers.find(name)) for name in observers.names()]
    return [name for name, one in known if run.probes and one.earlier(name in run.probes, logged)]
