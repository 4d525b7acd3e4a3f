"""Is the board the one that the cell's runs are on?

A virtual board has one CPU by construction (images/qemu.py), on which checks of threads rest: so whether
they are made follows from the cell, and not from what the run says of its board.
"""

from __future__ import annotations

import re

from analysis.run import Run


def cpus(run: Run) -> int:
    """Return how many CPUs the board says that it has."""
    return len(re.findall(r"^processor\s*:", run.board.texts.get("cpuinfo", ""), re.MULTILINE))


def one_cpu(run: Run) -> bool:
    """Whether no two threads can have run at a time."""
    return run.is_virtual or cpus(run) == 1


def as_built(run: Run) -> list[str]:
    """A virtual board has the one CPU that it is built with."""
    found = cpus(run)
    if not run.is_virtual or found == 1 or "cpuinfo" not in run.board.texts:
        return []
    return [f"raw/board/cpuinfo.txt has {found} processors; a virtual board has one"]
