"""Find the spread of merges: their deviation beyond the jitter of any command."""

import numpy as np

from commitpath.fitting.candidate import Candidate
from commitpath.fitting.intervals import OF_95, Intervals
from commitpath.fitting.measurement import Measurement

# the relative deviation of the variance of an even distribution, times the root of the number of values
OF_EVEN = 0.9
# relative, of the square of the jitter
JITTER_ERROR = 0.2


def with_spread(
    measurement: Measurement, which: np.ndarray, fitted: Candidate, found: Intervals, jitter: float
) -> tuple[Candidate, Intervals]:
    """Return a candidate with the spread of merges, and the intervals. which: the commands that merge."""
    expected, _ = fitted.replay(measurement)
    rest = measurement.latency_ns[which] - expected[which]
    # interruptions
    rest = rest[np.abs(rest - np.median(rest)) < 8 * np.median(np.abs(rest - np.median(rest))) + 1]
    mean, (low, high) = fitted.value("merge_ns"), found["merge_ns"]
    of_jitter, error = float(np.square(jitter * expected[which]).mean()), OF_95 * OF_EVEN / np.sqrt(rest.size)

    def width(more: float) -> float:
        # an even distribution of this variance
        variance = float(rest.var()) * (1 + error * more) - of_jitter * (1 - JITTER_ERROR * more)
        return min(2.0 * mean, float(np.sqrt(12 * max(0.0, variance))))

    least, widths = mean - round(width(0)) // 2, (width(-1), width(1))
    bounds = {
        **found,
        "merge_ns": (max(0.0, low - widths[1] / 2), high - widths[0] / 2),
        "merge_spread_ns": widths,
    }
    return fitted.changed(merge_ns=least, merge_spread_ns=round(width(0))), bounds
