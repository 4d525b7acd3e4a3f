"""Runs that choose their own checks: what is said of them would leave some out."""

from __future__ import annotations

import numpy as np
from forged import Forged

from kinds import kind


def two_cpus(run: Forged) -> None:
    """Let the board have had a second CPU, in the run and its twin."""
    for side in (run, run.twin):
        text = side.text("board/cpuinfo.txt").rstrip("\n")
        second = text.replace("processor\t: 0", "processor\t: 1")
        (side.raw / "board/cpuinfo.txt").write_text(f"{text}\n\n{second}\n")


@kind
def second_cpu_no_waits(run: Forged, draw: np.random.Generator) -> None:
    """the board is said to have two CPUs, and nobody waited for a commit"""
    lost = run.of("commit_wait")
    two_cpus(run)
    run.records = np.delete(run.records, lost)


@kind
def second_cpu_always_on(run: Forged, draw: np.random.Generator) -> None:
    """the board is said to have two CPUs, and the driver's thread was never off its own"""
    lost = run.of("off_cpu")
    two_cpus(run)
    run.records = np.delete(run.records, lost)
