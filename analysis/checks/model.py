"""Did each command take what its device takes for one, by the device's own settings?"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis import devices
from analysis.checks import late
from analysis.checks.calls import first
from analysis.ledger.arrays import Ints, ints
from analysis.ledger.build import Ledger
from analysis.run import Run

_BLOCK = 4096
# From the device's interrupt to the completion, beside what the copying takes: up to 64 µs on clean runs,
# once 112 µs; seldom 0.5 ms, and once 1.6 ms, when the CPU was busy with something else.
_LATE = {200_000: (0.01, 1), 1_000_000: (0.001, 0)}
_NEVER_NS = 5_000_000


def times(run: Run, made: Ledger) -> list[str]:
    """No command took less than the device takes for any; in virtual time none took more than that, the
    copying of its blocks and what the CPU had to do for those that ended before it."""
    device = devices.of(run.cell)
    least = device.takes(run.board.device) if device else 0
    taken = pl.col("complete_ns") - pl.col("issue_ns")
    found = first(made.ledger.filter(taken < least), f"commands took less than {least} ns", "command")
    if not device or not least or not run.counted:
        return found
    slower = made.given.slower
    by = _late(made.ledger, least, device.block_ns * slower)
    wrong = made.ledger.filter(by > late.most(by, _LATE, _NEVER_NS, slower))
    return found + first(wrong, f"commands took more than {least} ns and the copying", "command")


def _late(ledger: pl.DataFrame, least: int, block_ns: int) -> Ints:
    """Return how many ns after the time that it is due each command completed.

    A flush copies what was written since the one before; before a completion is handled, so are those that
    came earlier, with their blocks.
    """
    issue, complete = ints(ledger["issue_ns"]), ints(ledger["complete_ns"])
    blocks = -(-ints(ledger["bytes"]) // _BLOCK)
    flushes = np.flatnonzero(ledger["kind"] == "flush")
    order = np.argsort(issue[flushes], kind="stable")
    by_issue = np.argsort(issue, kind="stable")
    written = np.empty(issue.size, np.int64)
    written[by_issue] = np.cumsum(blocks[by_issue])
    copied = blocks.copy()
    copied[flushes[order]] += np.diff(written[flushes[order]], prepend=0)
    by_end = np.argsort(complete, kind="stable")
    handled = np.maximum.accumulate((complete + block_ns * blocks)[by_end])
    before = np.empty(issue.size, np.int64)
    before[by_end] = np.r_[0, handled[:-1]][: issue.size]
    return ints(complete - np.maximum(issue + least, before) - block_ns * copied)
