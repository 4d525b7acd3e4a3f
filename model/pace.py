"""Compute when each transaction of a run is due, by PACE: a fixed rate, or the times of a recorded trace."""

import re

import numpy as np

from base.arrays import Ints, ints
from base.errors import FileError
from model import userfile
from model.cell import Cell
from model.statements import sqlfile

NONE, RECORDED = "none", "trace"
_RATE = re.compile("([1-9][0-9]{0,5})/(s|min|h)")
# --pace-ns of each (workloads/options.h).
_WORDS = {NONE: 0, RECORDED: -1}
_UNIT_NS = {"s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}


def interval_ns(pace: str) -> int:
    """Return --pace-ns of a PACE: ns between two starts, or a word's number. Raises FileError."""
    if pace in _WORDS:
        return _WORDS[pace]
    if (rate := _RATE.fullmatch(pace)) is None:
        raise FileError("cell.json", "", f"pace is {pace!r}", "none, trace, or a rate such as 1/s or 6/min")
    return _UNIT_NS[rate[2]] // int(rate[1])


def recorded_ns(cell: Cell) -> Ints | None:
    """Return when each transaction of a cell's trace is due, after the first; None without PACE=trace."""
    if cell.pace != RECORDED:
        return None
    if "file" not in cell.profiles:
        raise FileError("cell.json", "", f"pace is {RECORDED!r} without a trace", "profiles.file")
    return ints(sqlfile.due_ns(userfile.parts(cell.profiles["file"]).transactions))


def due_ns(cell: Cell, begins: Ints) -> Ints | None:
    """Return when each transaction was due, given when each began; None without a PACE.

    Transactions after those of the trace were due when they began.
    """
    if cell.pace == NONE or begins.size == 0:
        return None
    if (recorded := recorded_ns(cell)) is not None:
        return ints(np.r_[begins[0] + recorded[: begins.size], begins[recorded.size :]])
    return ints(begins[0] + np.arange(begins.size) * interval_ns(cell.pace))
