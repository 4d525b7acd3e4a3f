"""Compute 95 % intervals of fitted times, and the spread of merges beyond the jitter of a command.

The squares of these add up:
- the curvature of the cost, times the misfit where that is above 1: the reduced chi-square (Press et al.,
  Numerical Recipes, chapter 15)
- how far a parameter moves with the error of the host's own time (Barlow, Systematic Errors, 2002)

An interval also covers
- the minimum, where a fit ended near it
- the intervals of other structures that fit as well: a profile likelihood over parameters other than times
  (Venzon and Moolgavkar, Applied Statistics 37, 1988)
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from commitpath.fitting.candidate import Candidate
from commitpath.fitting.joint_fit import BUS, FAR, Fit, Problem, from_number, to_number
from commitpath.fitting.measurement import Measurement

Intervals = Mapping[str, tuple[float, float]]
OF_95 = 1.96
# operations in which the host takes a time of its own
KINDS = (("r",), ("w", "f"), ("F",), ("d",))
# how far that is from HOST_NS in the root mean square: on the virtual board it is 26.7 us for a read, 26.8
# for a write, 30.0 for a FLUSH, 33.8 for a discard (make bench-profile BOARD=virtual SEED=401)
HOST_ERROR_NS = 3000


def host_errors(measurement: Measurement) -> Iterator[np.ndarray]:
    """Yield one standard deviation of the uncertainty of the host's time in each command."""
    ops = np.array([row.op for row in measurement.rows])
    for kind in KINDS:
        yield np.isin(ops, kind) * HOST_ERROR_NS


def misfit(posed: Problem, fit: Fit, parameters: int) -> float:
    """Return the reduced chi-square, at least 1, the value for a device that behaves like the model."""
    return max(1.0, 2 * fit.cost / max(1, len(posed.cells.names) - parameters))


def of_fit(posed: Problem, fit: Fit, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the interval of each of these times."""
    residuals, jacobian = posed.residuals(fit.candidate), posed.jacobian(fit.candidate, names)
    # as in the cost, far cells count less
    far = 1 + np.square(residuals / FAR)
    # a parameter without effect has any value
    curvature = jacobian.T @ (jacobian * far[:, None] ** -1.5) + 1e-6 * np.eye(len(names))
    inverse = np.linalg.inv(curvature)
    variances = np.diag(inverse) * misfit(posed, fit, len(names))
    for more_ns in host_errors(posed.measurement):
        moved = posed.residuals(fit.candidate, more_ns) - residuals
        variances += np.square(inverse @ (jacobian.T @ (moved * far**-1.5)))
    steps = inverse @ (jacobian.T @ (residuals * far**-0.5))
    halves = OF_95 * np.sqrt(variances)
    found = {}
    for name, half, step in zip(names, halves, steps, strict=True):
        number = to_number(name, fit.candidate.value(name))
        # the minimum is at number - step
        ends = [from_number(name, number + end) for end in (-half - max(0, step), half - min(0, step))]
        found[name] = (min(ends), max(ends))
        if name == BUS:
            # a whole number
            found[name] = (float(np.floor(min(ends))), float(np.ceil(max(ends))))
    return found


def covering(several: Iterable[Intervals], names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the interval of each name that covers those of several fits."""
    every = list(several)
    return {
        name: (
            min(one[name][0] for one in every if name in one),
            max(one[name][1] for one in every if name in one),
        )
        for name in names
    }


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
