"""Statistics of repeated runs: spread, confidence interval, outliers, and the cost of observation."""

import math
import statistics
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

CONFIDENCE = 0.95
_FEW, _OUTLYING = 5, 3.5


def spread(values: list[float]) -> float:
    """Return (max − min)/median."""
    return (max(values) - min(values)) / statistics.median(values)


def interval(
    values: Sequence[float], samples: Sequence[tuple[Hashable, Hashable]] | None = None
) -> tuple[float, float] | None:
    """Return the 95 % confidence interval of the mean (Student's t); None if all values are equal.

    samples: the seed and the board of each value (model.cell.sample). Values with one seed are not
    independent, nor are those on one board. So the seeds' means have an interval, and the boards' means, and
    the squares of the two half-widths are added. tests/analysis/test_spread.py simulates how often the mean
    is in it. A bootstrap of few values has the mean in it less often than it states.
    """
    if len(set(values)) < 2:
        return None
    factors = list(zip(*samples, strict=True)) if samples else [range(len(values))]
    # two factors that group the values alike are one
    groups = {tuple(factor.index(level) for level in factor): None for factor in factors}
    widths = [width for places in groups if (width := half_width(means(values, places))) is not None]
    mean, half = statistics.fmean(values), math.hypot(*widths)
    return (mean - half, mean + half) if widths else None


def means(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    """Return the mean of each group. groups: the group of each value."""
    members: dict[int, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        members.setdefault(group, []).append(value)
    return [statistics.fmean(of_group) for of_group in members.values()]


def half_width(values: Sequence[float]) -> float | None:
    """Return half of the width of Student's interval of the mean; None for one value."""
    if len(values) < 2:
        return None
    # imported here: it takes a sixth of an analysis's imports
    from scipy import special

    error = np.std(values, ddof=1) / len(values) ** 0.5
    return float(special.stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2) * error)


def outliers(good: list[dict[str, Any]]) -> dict[str, list[str]] | None:
    """Return outliers among runs in real time: {run: operations}. They are reported, not excluded.

    An outlier is more than _OUTLYING scaled median absolute deviations from the median (Iglewicz and Hoaglin
    1993). Return None in virtual time, or with fewer than _FEW runs.
    """
    if len(good) < _FEW or any(summary["clock"] == "virtual" for summary in good):
        return None
    from scipy import special

    operations: dict[str, list[str]] = {}
    for op in good[0]["tps"]:
        values = [summary["tps"][op] for summary in good]
        if None in values:
            continue
        middle = statistics.median(values)
        typical = statistics.median(abs(value - middle) for value in values) / float(special.ndtri(0.75))
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
