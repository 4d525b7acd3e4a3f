"""Compare two small samples of positive numbers: their ratio, its interval, and a test.

The estimate is Hodges and Lehmann's, the median of all ratios between the two samples;
its interval and the test are those of Mann and Whitney, exact for few runs, with no
assumption about the distribution. With few runs an interval of 95 % may not exist:
three against three reach 90 %, and the confidence reached is part of the answer.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from scipy import stats

LEVEL = 0.05
Samples = tuple[Sequence[float], Sequence[float]]
# Random relabellings for a test over cells, where all of them are too many; seeded.
RESAMPLES = 20_000


@dataclass(frozen=True)
class Difference:
    """B compared with A. ratio: B/A; its interval with its confidence; p of the test (None: no test)."""

    ratio: float
    low: float
    high: float
    confidence: float
    p: float | None
    # the smallest p that this many measurements can give
    least_p: float

    @property
    def verdict(self) -> str:
        """Return the result in words; `no difference` only if the runs could have shown one."""
        if self.low == self.high == 1:
            return "no difference (equal)"
        if self.p is None or self.least_p > LEVEL:
            return "too few runs to tell"
        if self.p > LEVEL:
            return "no difference"
        return "B higher" if self.ratio > 1 else "B lower"


def median(values: Sequence[float]) -> float:
    """Return the median as a Python float."""
    return float(np.median(values))


def rank_sum(a: Sequence[float], b: Sequence[float], axis: int = -1) -> Any:
    """Return Mann and Whitney's U of b over a, ties as halves."""
    ranks = stats.rankdata(np.concatenate([a, b], axis=axis), axis=axis)
    mine = ranks.take(range(np.shape(a)[axis], ranks.shape[axis]), axis=axis)
    return mine.sum(axis=axis) - np.shape(b)[axis] * (np.shape(b)[axis] + 1) / 2


def compare(a: Sequence[float], b: Sequence[float], distinct: Samples | None = None) -> Difference:
    """Return how B differs from A.

    distinct: the distinct measurements among a and b, where these are fewer. The interval and the test
    are of them, the ratio is of all.
    """
    of_a, of_b = distinct or (a, b)
    m, n = len(of_a), len(of_b)
    least_p = min(1.0, 2 / comb(m + n, n))
    low, high, confidence = interval(ratios(of_a, of_b), m, n)
    p = None
    if min(m, n) > 1:
        test = stats.permutation_test(
            (of_a, of_b),
            rank_sum,
            permutation_type="independent",
            vectorized=True,
            n_resamples=RESAMPLES,
            rng=1,
        )
        p = float(test.pvalue)
    return Difference(median(ratios(a, b)), low, high, confidence, p, least_p)


def ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return all ratios of a value of b to one of a, ascending."""
    return sorted(y / x for x, y in itertools.product(a, b))


def interval(ordered: Sequence[float], m: int, n: int) -> tuple[float, float, float]:
    """Return (low, high, confidence) of the narrowest interval of at least 95 %, or the widest.

    ordered: all m × n ratios, ascending. The k-th from either end bound it with the
    confidence 1 − 2 P(U < k).
    """
    at_most = np.cumsum(u_counts(m, n)) / comb(m + n, n)
    k = 1
    while k < len(ordered) // 2 and 2 * at_most[k] <= LEVEL:
        k += 1
    return ordered[k - 1], ordered[-k], max(0.0, 1 - 2 * float(at_most[k - 1]))


def u_counts(m: int, n: int) -> np.ndarray:
    """Return the number of arrangements of m and n values with U = 0, 1, … m·n."""
    # the coefficients of the Gaussian binomial: multiply by 1 − q^(m+i), divide by 1 − q^i
    counts = np.zeros(m * n + 1)
    counts[0] = 1
    for i in range(1, n + 1):
        for u in range(m * n, m + i - 1, -1):
            counts[u] -= counts[u - m - i]
        for u in range(i, m * n + 1):
            counts[u] += counts[u - i]
    return counts


def over_cells(cells: Sequence[Samples]) -> tuple[float, float]:
    """Return (p, least p) of many matched cells together, of their distinct measurements.

    The test relabels runs within their cell: nothing is assumed of how cells differ
    from one another. Its statistic is the mean of the cells' log ratios.
    """
    rng = np.random.default_rng(1)
    observed, drawn, arrangements = 0.0, np.zeros(RESAMPLES), 1
    for a, b in cells:
        pool = np.log(np.concatenate([a, b]))
        observed += pool[len(a) :].mean() - pool[: len(a)].mean()
        shuffled = rng.permuted(np.tile(pool, (RESAMPLES, 1)), axis=1)
        drawn += shuffled[:, len(a) :].mean(axis=1) - shuffled[:, : len(a)].mean(axis=1)
        arrangements *= comb(len(pool), len(b))
    as_far = np.count_nonzero(np.abs(drawn) >= abs(observed) * (1 - 1e-12))
    return (as_far + 1) / (RESAMPLES + 1), min(1.0, 2 / arrangements)
