"""Check that a summary's crash results are consistent with the cell and with each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.crash import verdicts
from model.cell import Cell
from model.crash_points.policies import PROCESS
from model.engines.survival import MOST_LOST

# tolerance for the rounding of a mean
_LESS = 1 - 1e-9
# At most one in so many trials may show a state that no crash leaves on its board (crash/align.py).
UNPLACED = 10


def contradictions(cell: Cell, summary: Mapping[str, Any]) -> list[str]:
    """Return the contradictions in summary.json's `crash`."""
    requested, results = cell.crash, summary.get("crash")
    if results is None or requested == "none":
        fits = (results is None) == (requested == "none")
        return (
            []
            if fits
            else [f"crash: the cell requests {requested!r}, but the summary has {results and 'trials'}"]
        )
    lost, reasons, unplaced = results["lost_acknowledged"], [], results.get("unplaced") or 0
    # a process may have fewer crash points than `cuts` (analysis/crash/kills.py)
    few = requested == PROCESS and results["cuts"] < cell.cuts
    for what, wanted, value in (
        ("failure", requested, results["failure"]),
        *([] if few else [("cuts", cell.cuts - unplaced, results["cuts"])]),
        ("promised", verdicts.promised(cell), results["promised"]),
    ):
        if value != wanted:
            reasons.append(f"crash: {what} is {value!r}, expected {wanted!r} from the cell")
    if unplaced * UNPLACED > cell.cuts or (unplaced and requested == PROCESS):
        reasons.append(f"crash: {unplaced} of {cell.cuts} trials showed a state that no crash leaves")
    held = results["opened"] - results["corrupt"] - results["not_a_prefix"]
    if not 0 <= held <= results["opened"] <= results["mounted"] <= results["cuts"] - results.get("died", 0):
        reasons.append("crash: more corrupt than opened, opened than mounted, or mounted than tried")
    worst, mean, losing = lost["max"] or 0, lost["mean"] or 0, lost["cuts"]
    # a corrupt database may also hold a number of transactions, and then counts in the mean
    of_them = max(held, losing), results["opened"] - results["not_a_prefix"]
    least = losing + worst - 1 if losing else 0
    if (
        losing > of_them[1]
        or (worst > 0) != (losing > 0)
        or not least * _LESS <= mean * of_them[1]
        or not mean * of_them[0] * _LESS <= losing * worst
    ):
        reasons.append(
            f"crash: {losing} trials lost at most {worst} transactions each, with a mean of {mean}"
        )
    longest, usual = results["lost_ms"]["max"] or 0, results["lost_ms"]["mean"] or 0
    if usual > longest or (longest > 0 and not lost["cuts"]):
        reasons.append(
            f"crash: {lost['cuts']} trials lost at most {longest} ms of work, with a mean of {usual}"
        )
    if (results["broken"] > 0) != (results["first_broken"] is not None) or not _as_promised(
        results, worst, losing
    ):
        reasons.append(f"crash: {results['broken']} of {results['cuts']} trials broke the promise")
    return reasons + _recovered(results)


def _recovered(results: Mapping[str, Any]) -> list[str]:
    """Return the contradictions in what the trials recovered."""
    reasons = []
    for name in ("zero", "stale"):
        if (sectors := results.get(name)) is not None and (
            (sectors["cuts"] > 0) != (sectors["max"] > 0) or sectors["cuts"] > results["mounted"]
        ):
            reasons.append(
                f"crash: {sectors['cuts']} trials left {name} sectors, {sectors['max']} at most; "
                f"{results['mounted']} mounted"
            )
    fsck, recovery = results.get("fsck", {}), results["recovery_ms"]
    looked = fsck.get("looked", 0)
    complaints = results.get("complaints", 0)
    if not fsck.get("complained", 0) <= looked <= results["cuts"] or complaints > results["cuts"]:
        reasons.append("crash: more fsck complaints than checks, or more checks or complaints than trials")
    if sum(results.get("recoveries", {}).values()) > results["opened"]:
        reasons.append("crash: more recoveries reported than databases opened")
    most = recovery["max"]
    if (recovery["median"] or 0) > (most or 0) or (most is None) != (results["opened"] == 0):
        reasons.append(f"crash: recovery took {recovery['median']} ms (median), {most} ms at most")
    return reasons


def _as_promised(results: Mapping[str, Any], worst: int, losing: int) -> bool:
    """Return whether the number of broken promises is possible.

    Each trial without a usable database breaks the promise. If the worst loss exceeds what may be lost, at
    least one losing trial breaks it, too.
    """
    broken, promise = results["broken"], results["promised"]
    if promise not in MOST_LOST:
        return bool(broken == 0)
    unusable = results["cuts"] - results["opened"] + results["corrupt"] + results["not_a_prefix"]
    most = MOST_LOST[promise]
    lost_more = most is not None and worst > most
    # a corrupt database with too few transactions counts in both
    return bool(max(unusable, lost_more) <= broken <= unusable + (losing if lost_more else 0))
