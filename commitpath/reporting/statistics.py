"""Compare two sets of numbers: ratio B/A, its interval (paired, or Mann and Whitney's), and verdict.

In virtual time a number belongs to a seed and a board, and repeats exactly. So the sides are compared
pair by pair, and the ratios' interval is over seeds and boards (analysis/stats/spread.py).

On a real clock each run is a sample of its own. The ratio is Hodges and Lehmann's, the median of all ratios
between the two sides; its interval comes from Mann and Whitney's test, exact for few runs. Few runs reach
less than 95 %: three against three 90 %.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

import numpy as np

from analysis.stats import spread

LEVEL = 0.05
EQUAL, WITHIN, DIFFERENT = "equal", "equal within the margin", "different"
UNDECIDED = "not decided"
# A sample: a seed and a board (model.cell.sample).
Sample = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class Interval:
    """Where the ratio B/A is, with the confidence."""

    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class Difference:
    """B compared with A. ratio: B/A, None without one.

    interval: of the ratio; None if there is none, for the reason in `why`. margin: what counts as equal, such
    as 0.01.
    """

    ratio: float | None
    interval: Interval | None
    margin: float
    why: str = ""

    @property
    def verdict(self) -> str:
        """Return EQUAL, WITHIN, DIFFERENT, or UNDECIDED."""
        if not self.interval or self.why:
            return UNDECIDED
        low, high = self.interval.low, self.interval.high
        if low == high == 1:
            return EQUAL
        if 1 / (1 + self.margin) <= low and high <= 1 + self.margin:
            return WITHIN
        return UNDECIDED if low <= 1 <= high else DIFFERENT

    @property
    def text(self) -> str:
        """Return the verdict with the higher side of a difference, or the reason for none."""
        if self.verdict == DIFFERENT:
            return f"{DIFFERENT}: B {'higher' if (self.ratio or 0) > 1 else 'lower'}"
        if self.verdict == UNDECIDED:
            return f"{UNDECIDED}: {self.why or 'the interval includes 1 and exceeds the margin'}"
        return self.verdict


def boards_spread(side: Mapping[Sample, float]) -> float:
    """Return the largest (max − min)/median over boards of one seed; 0 without a second board."""
    by_seed: dict[Hashable, list[float]] = {}
    for (seed, _), value in side.items():
        by_seed.setdefault(seed, []).append(value)
    return max((spread.spread(values) for values in by_seed.values() if median(values)), default=0.0)


def paired(a: Mapping[Sample, float], b: Mapping[Sample, float], margin: float) -> Difference:
    """Return how B differs from A, by samples that both have; the boards' spread is a least margin."""
    margin = max(margin, boards_spread(a), boards_spread(b))
    samples = [sample for sample in a if sample in b]
    if not samples:
        return Difference(None, None, margin, "A and B have no seed on the same board")
    if all(a[sample] == b[sample] for sample in samples):
        return Difference(1.0, Interval(1.0, 1.0, 1.0), margin)
    pairs = [(a[sample], b[sample]) for sample in samples]
    # each sample of one side is 0, and none of the other
    for zeros, ratio in (([one for one, _ in pairs], math.inf), ([other for _, other in pairs], 0.0)):
        if len(samples) > 1 and not any(zeros) and all(sum(pair) > 0 for pair in pairs):
            return Difference(ratio, Interval(ratio, ratio, 1.0), margin)
    if any(min(pair) <= 0 for pair in pairs):
        return Difference(None, None, margin, "a value is 0 or less")
    logs = [math.log(other / one) for one, other in pairs]
    ratio = math.exp(float(np.mean(logs)))
    if len(samples) < 2:
        return Difference(ratio, None, margin, "one seed on one board")
    low, high = map(math.exp, spread.interval(logs, samples) or (logs[0], logs[0]))
    return Difference(ratio, Interval(low, high, 1 - LEVEL), margin)


def unpaired(a: Sequence[float], b: Sequence[float], margin: float) -> Difference:
    """Return how B differs from A, from runs on a real clock."""
    if len({*a, *b}) == 1:
        return Difference(1.0, Interval(1.0, 1.0, 1.0), margin)
    if min(*a, *b) <= 0:
        return Difference(None, None, margin, "a value is 0 or less")
    every = ratios(a, b)
    found = interval(every, len(a), len(b))
    why = ""
    if found.confidence < 1 - LEVEL:
        why = f"{len(a)} and {len(b)} runs reach an interval of {found.confidence:.0%}, not {1 - LEVEL:.0%}"
    return Difference(median(every), found if found.confidence else None, margin, why)


def ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return all ratios of a value of b to one of a, ascending."""
    return sorted(y / x for x, y in itertools.product(a, b))


def interval(ordered: Sequence[float], m: int, n: int) -> Interval:
    """Return the narrowest interval of at least 95 %, or the widest.

    ordered: all m × n ratios, ascending. The k-th from either end bound it with the
    confidence 1 − 2 P(U < k).
    """
    at_most = np.cumsum(u_counts(m, n)) / comb(m + n, n)
    k = 1
    while k < len(ordered) // 2 and 2 * at_most[k] <= LEVEL:
        k += 1
    return Interval(ordered[k - 1], ordered[-k], max(0.0, 1 - 2 * float(at_most[k - 1])))


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
