"""Check the number of CPUs of the board.

A virtual board has one CPU by construction (images/qemu.py). Checks of threads rely on it, so they apply
according to the cell, not to what the run reports.
"""

from __future__ import annotations

import re

from analysis.run import Run


def cpus(run: Run) -> int:
    """Return the number of CPUs that the board reports."""
    return len(re.findall(r"^processor\s*:", run.board.texts.get("cpuinfo", ""), re.MULTILINE))


def one_cpu(run: Run) -> bool:
    """Return whether two threads can never have run at the same time."""
    return run.is_virtual or cpus(run) == 1


def as_built(run: Run) -> list[str]:
    """Check that a virtual board has exactly one CPU."""
    count = cpus(run)
    if not run.is_virtual or count == 1 or "cpuinfo" not in run.board.texts:
        return []
    return [f"raw/board/cpuinfo.txt has {count} processors; a virtual board has one"]
