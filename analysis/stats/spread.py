"""How far the rates of several runs of one cell are apart, and what watching cost by pairs of them."""

from __future__ import annotations

import math
import statistics
from typing import Any

from scipy import stats

CONFIDENCE = 0.95
_FEW, _OUTLYING = 5, 3.5


def spread(values: list[float]) -> float:
    """(max − min)/median."""
    return (max(values) - min(values)) / statistics.median(values)


def interval(values: list[float]) -> tuple[float, float] | None:
    """95 % confidence interval of the mean by Student's t; None where the values are one and the same."""
    if len(set(values)) < 2:
        return None
    mean, error = statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error
    return mean - half, mean + half


def distinct(good: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the distinct measurements among runs of one cell: equal rates in virtual time are one."""
    if any(summary["clock"] != "virtual" for summary in good):
        return good
    return list({tuple(summary["tps"].values()): summary for summary in good}.values())


def outliers(good: list[dict[str, Any]]) -> dict[str, list[str]] | None:
    """Runs in real time that are far from the others: run → operations. Shown, and in all numbers.

    Far is _OUTLYING times the median distance from the median, put as a normal distribution's standard
    deviation (Iglewicz and Hoaglin 1993). None where nobody can tell: in virtual time, or of fewer than _FEW.
    """
    if len(good) < _FEW or any(summary["clock"] == "virtual" for summary in good):
        return None
    found: dict[str, list[str]] = {}
    for op in good[0]["tps"]:
        values = [summary["tps"][op] for summary in good]
        if None in values:
            continue
        middle = statistics.median(values)
        typical = statistics.median(abs(value - middle) for value in values) / float(stats.norm.ppf(0.75))
        for summary, value in zip(good, values, strict=True):
            if abs(value - middle) > _OUTLYING * typical:
                found.setdefault(summary["run_id"], []).append(op)
    return found


def watching(good: list[dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    """What watching cost by pairs of runs in real time, by operation: mean and 95 % interval, of the ratios
    of TPS; None where they are no pairs of real time."""
    if any(summary["clock"] == "virtual" or not summary.get("watching_cost") for summary in good) or not good:
        return None
    found = {}
    for op in good[0]["watching_cost"]:
        costs = [summary["watching_cost"][op] for summary in good]
        if None in costs:
            continue
        logs = [math.log(1 - cost) for cost in costs]
        limits = interval(logs)
        found[op] = {
            "mean": 1 - math.exp(statistics.mean(logs)),
            "interval": (1 - math.exp(limits[1]), 1 - math.exp(limits[0])) if limits else None,
        }
    return found
