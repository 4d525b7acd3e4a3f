"""Compute spread, confidence interval and outliers of repeated runs, and the cost of observation."""

import math
import statistics
from typing import Any

from scipy import stats

CONFIDENCE = 0.95
_FEW, _OUTLYING = 5, 3.5


def spread(values: list[float]) -> float:
    """Return (max − min)/median."""
    return (max(values) - min(values)) / statistics.median(values)


def interval(values: list[float]) -> tuple[float, float] | None:
    """Return the 95 % confidence interval of the mean (Student's t); None if all values are equal."""
    if len(set(values)) < 2:
        return None
    mean, error = statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error
    return mean - half, mean + half


def distinct(good: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the distinct measurements of a cell: runs with equal rates in virtual time count once."""
    if any(summary["clock"] != "virtual" for summary in good):
        return good
    return list({tuple(summary["tps"].values()): summary for summary in good}.values())


def outliers(good: list[dict[str, Any]]) -> dict[str, list[str]] | None:
    """Return outliers among runs in real time: {run: operations}. They are reported, not excluded.

    An outlier is more than _OUTLYING scaled median absolute deviations from the median (Iglewicz and Hoaglin
    1993). Return None in virtual time, or with fewer than _FEW runs.
    """
    if len(good) < _FEW or any(summary["clock"] == "virtual" for summary in good):
        return None
    operations: dict[str, list[str]] = {}
    for op in good[0]["tps"]:
        values = [summary["tps"][op] for summary in good]
        if None in values:
            continue
        middle = statistics.median(values)
        typical = statistics.median(abs(value - middle) for value in values) / float(stats.norm.ppf(0.75))
        for summary, value in zip(good, values, strict=True):
            if abs(value - middle) > _OUTLYING * typical:
                operations.setdefault(summary["run_id"], []).append(op)
    return operations


def watching(good: list[dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    """Return the cost of observation by operation: mean and 95 % interval of the TPS ratios of pairs.

    Return None unless all runs are pairs in real time.
    """
    if any(summary["clock"] == "virtual" or not summary.get("watching_cost") for summary in good) or not good:
        return None
    by_operation = {}
    for op in good[0]["watching_cost"]:
        costs = [summary["watching_cost"][op] for summary in good]
        if None in costs:
            continue
        logs = [math.log(1 - cost) for cost in costs]
        limits = interval(logs)
        by_operation[op] = {
            "mean": 1 - math.exp(statistics.mean(logs)),
            "interval": (1 - math.exp(limits[1]), 1 - math.exp(limits[0])) if limits else None,
        }
    return by_operation
