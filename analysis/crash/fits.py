"""Does what a summary says of a run's trials fit its cell, and itself?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.crash import verdicts
from analysis.crash.cuts import PROCESS


def contradictions(cell: Mapping[str, Any], summary: Mapping[str, Any]) -> list[str]:
    """Return what of summary.json's `crash` cannot be so."""
    asked, told = cell.get("crash", "none"), summary.get("crash")
    if told is None or asked == "none":
        fits = (told is None) == (asked == "none")
        return (
            [] if fits else [f"crash: the cell asks for {asked!r}, and the summary has {told and 'trials'}"]
        )
    lost, found = told["lost_acknowledged"], []
    for what, wanted, value in (
        ("failure", asked, told["failure"]),
        # a process may have fewer moments (analysis/crash/kills.py)
        *([] if asked == PROCESS and told["cuts"] < cell["cuts"] else [("cuts", cell["cuts"], told["cuts"])]),
        ("promised", verdicts.promised(cell), told["promised"]),
    ):
        if value != wanted:
            found.append(f"crash: {what} is {value!r}, by the cell {wanted!r}")
    held = told["opened"] - told["corrupt"] - told["not_a_prefix"]
    if not 0 <= held <= told["opened"] <= told["mounted"] <= told["cuts"]:
        found.append("crash: more were corrupt than opened, opened than mounted, or mounted than cut")
    worst, mean = lost["max"] or 0, lost["mean"] or 0
    if lost["cuts"] > told["opened"] or mean > worst or (worst > 0) != (lost["cuts"] > 0):
        found.append(f"crash: {lost['cuts']} cuts lost {worst} transactions at most, {mean} a cut")
    if (work := told.get("lost_ms")) is not None:  # an earlier analysis says nothing of it
        longest, usual = work["max"] or 0, work["mean"] or 0
        if usual > longest or (longest > 0 and not lost["cuts"]):
            found.append(f"crash: {lost['cuts']} cuts lost {longest} ms of work at most, {usual} a cut")
    if told["broken"] > told["cuts"] or (told["broken"] > 0) != (told["first_broken"] is not None):
        found.append(f"crash: {told['broken']} of {told['cuts']} cuts were against the promise")
    return found
