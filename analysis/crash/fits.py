"""Does what a summary says of a run's trials fit its cell, and itself?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.crash import verdicts
from model.cell import Cell
from model.crash_points.policies import PROCESS
from model.engines.survival import MOST_LOST

# of what a mean is rounded by
_LESS = 1 - 1e-9
# Of so many trials one may be of no cut of its board (crash/placed.py).
UNPLACED = 10


def contradictions(cell: Cell, summary: Mapping[str, Any]) -> list[str]:
    """Return what of summary.json's `crash` cannot be so."""
    asked, told = cell.crash, summary.get("crash")
    if told is None or asked == "none":
        fits = (told is None) == (asked == "none")
        return (
            [] if fits else [f"crash: the cell asks for {asked!r}, and the summary has {told and 'trials'}"]
        )
    lost, found, unplaced = told["lost_acknowledged"], [], told.get("unplaced") or 0
    # a process may have fewer moments (analysis/crash/kills.py)
    few = asked == PROCESS and told["cuts"] < cell.cuts
    for what, wanted, value in (
        ("failure", asked, told["failure"]),
        *([] if few else [("cuts", cell.cuts - unplaced, told["cuts"])]),
        ("promised", verdicts.promised(cell), told["promised"]),
    ):
        if value != wanted:
            found.append(f"crash: {what} is {value!r}, by the cell {wanted!r}")
    if unplaced * UNPLACED > cell.cuts or (unplaced and asked == PROCESS):
        found.append(f"crash: {unplaced} of {cell.cuts} cuts are of no moment of their boards")
    held = told["opened"] - told["corrupt"] - told["not_a_prefix"]
    if not 0 <= held <= told["opened"] <= told["mounted"] <= told["cuts"] - told.get("died", 0):
        found.append("crash: more were corrupt than opened, opened than mounted, or mounted than cut")
    worst, mean, losing = lost["max"] or 0, lost["mean"] or 0, lost["cuts"]
    # a corrupt database may hold so many transactions, too, and then is in the mean
    of_them = max(held, losing), told["opened"] - told["not_a_prefix"]
    least = losing + worst - 1 if losing else 0
    if (
        losing > of_them[1]
        or (worst > 0) != (losing > 0)
        or not least * _LESS <= mean * of_them[1]
        or not mean * of_them[0] * _LESS <= losing * worst
    ):
        found.append(f"crash: {losing} cuts lost {worst} transactions at most, {mean} a cut")
    longest, usual = told["lost_ms"]["max"] or 0, told["lost_ms"]["mean"] or 0
    if usual > longest or (longest > 0 and not lost["cuts"]):
        found.append(f"crash: {lost['cuts']} cuts lost {longest} ms of work at most, {usual} a cut")
    if (told["broken"] > 0) != (told["first_broken"] is not None) or not _as_promised(told, worst, losing):
        found.append(f"crash: {told['broken']} of {told['cuts']} cuts were against the promise")
    return found + _came_up(told)


def _came_up(told: Mapping[str, Any]) -> list[str]:
    """What of how the databases came up cannot be so."""
    found = []
    for name in ("zero", "stale"):
        if (sectors := told.get(name)) is not None and (
            (sectors["cuts"] > 0) != (sectors["max"] > 0) or sectors["cuts"] > told["mounted"]
        ):
            found.append(
                f"crash: {sectors['cuts']} cuts left {name} sectors, {sectors['max']} at most; "
                f"{told['mounted']} mounted"
            )
    fsck, recovery = told.get("fsck", {}), told["recovery_ms"]
    looked = fsck.get("looked", 0)
    if not fsck.get("complained", 0) <= looked <= told["cuts"] or told.get("complaints", 0) > told["cuts"]:
        found.append("crash: more complained than looked, or were looked at than cut")
    if sum(told.get("recoveries", {}).values()) > told["opened"]:
        found.append("crash: more recoveries were told of than databases opened")
    most = recovery["max"]
    if (recovery["median"] or 0) > (most or 0) or (most is None) != (told["opened"] == 0):
        found.append(f"crash: recovery took {recovery['median']} ms usually, {most} at most")
    return found


def _as_promised(told: Mapping[str, Any], worst: int, losing: int) -> bool:
    """Whether so many cuts can be against the promise: each that left no usable database is, and where the
    worst lost more than may be lost so is at least one that lost transactions."""
    broken, promise = told["broken"], told["promised"]
    if promise not in MOST_LOST:
        return bool(broken == 0)
    unusable = told["cuts"] - told["opened"] + told["corrupt"] + told["not_a_prefix"]
    most = MOST_LOST[promise]
    lost_more = most is not None and worst > most
    # a corrupt one that holds too few transactions is both
    return bool(max(unusable, lost_more) <= broken <= unusable + (losing if lost_more else 0))
