"""Least-squares fit of all times of the flash model to the logarithms of latencies, grouped by cell."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from commitpath.fitting.candidate import HOST_KIB, Candidate
from commitpath.fitting.measurement import Measurement

# deviations of a logarithm that no number of commands makes smaller
LEAST_SIGMA = 0.004
# from a median deviation to a standard one, and a median's deviation to a mean's
MAD, OF_MEDIAN = 1.4826, 1.2533
# a median deviation of few values is too small: times n / (n - FEW) (Croux and Rousseeuw, COMPSTAT 1992)
FEW = 0.8
ENOUGH = 5


@dataclass(frozen=True)
class Cells:
    """Commands by cell. Cells of the mean leave out the slowest 1 in 25, which may have been interrupted."""

    names: tuple[str, ...]
    used: np.ndarray  # numbers of the compared commands
    cell: np.ndarray  # of each of them
    begin: np.ndarray  # of each cell among the sorted
    count: np.ndarray
    kept: np.ndarray  # of the mean; 0: the median
    merged: np.ndarray  # whether its commands merge by copying

    def statistics(self, latency: np.ndarray) -> np.ndarray:
        """Return the median or mean of each cell."""
        values = latency[self.used]
        ordered = values[np.lexsort((values, self.cell))]
        middle = self.begin + (self.count - 1) // 2, self.begin + self.count // 2
        medians = (ordered[middle[0]] + ordered[middle[1]]) / 2
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        means = (sums[self.begin + self.kept] - sums[self.begin]) / np.maximum(self.kept, 1)
        chosen: np.ndarray = np.where(self.kept > 0, means, medians)
        return chosen

    def sigmas(self, latency: np.ndarray) -> np.ndarray:
        """Return the standard deviation of the logarithm of each cell's statistic."""
        level, merging = self.jitter(latency), self.merging(latency)
        sigmas = []
        for cell, (begin, count, kept) in enumerate(zip(self.begin, self.count, self.kept, strict=True)):
            values = latency[self.used[begin : begin + count]]
            sd = merging if self.merged[cell] else level
            if count >= ENOUGH:
                sd = values.std() / values.mean() if kept else deviation(values)
            sigmas.append(max(sd, level / 2) * (1 if kept else OF_MEDIAN) / np.sqrt(count))
        return np.hypot(sigmas, LEAST_SIGMA)

    def merging(self, latency: np.ndarray) -> float:
        """Return the relative deviation of one command that merges, in the median of the cells with many."""
        places = zip(self.begin[self.merged], self.count[self.merged], strict=True)
        values = [latency[self.used[begin : begin + count]] for begin, count in places]
        many = [float(one.std() / one.mean()) for one in values if one.size >= ENOUGH]
        return max(self.jitter(latency), float(np.median(many)) if many else 0.0)

    def jitter(self, latency: np.ndarray, least_ns: float = 0) -> float:
        """Return the relative deviation of one command, in the median of the cells of the median.

        least_ns: only cells that take longer.
        """
        found = []
        for begin, count, kept in zip(self.begin, self.count, self.kept, strict=True):
            values = latency[self.used[begin : begin + count]]
            if not kept and count >= ENOUGH and np.median(values) > least_ns:
                found.append(deviation(values))
        return float(np.median(found)) if found else 0.05


def deviation(values: np.ndarray) -> float:
    """Return the standard deviation of the logarithms, by the median one."""
    logs = np.log(values)
    return float(MAD * logs.size / (logs.size - FEW) * np.median(np.abs(logs - np.median(logs))))


def divided(measurement: Measurement, events: np.ndarray, *without: str) -> Cells:
    """Return the cells of a measurement, divided by events: commands that merge are compared by the mean."""
    used = np.flatnonzero((measurement.cells != "") & ~measurement.among(*without))
    keys = np.array([f"{name} {event}" if event else name
                     for name, event in zip(measurement.cells[used], events[used], strict=True)])  # fmt: skip
    names, cell = np.unique(keys, return_inverse=True)
    order = np.argsort(cell, kind="stable")
    used, cell = used[order], cell[order]
    count = np.bincount(cell)
    begin = np.concatenate([[0], np.cumsum(count)[:-1]])
    means = np.array([measurement.rows[number].mean for number in used[begin]])
    event = events[used[begin]] > 0
    kept = np.where(event, count, np.where(means, count - count // 25, 0))
    return Cells(tuple(map(str, names)), used, cell, begin, count, kept, events[used[begin]] % 4 == 2)


# The scale of each time in the fit, ns. Latencies are sums of times, so times are fitted as they are, and in
# place of the bus the time of a byte.
SCALES = {
    "command_ns": 5e4, "write_command_ns": 5e4, "read_ns": 1e5, "program_ns": 5e5, "program_kib_ns": 1e4,
    "slc_program_ns": 5e5, "flush_clean_ns": 1e5, "flush_dirty_ns": 2e5, "flush_dirty_kib_ns": 1e3,
    "fua_ns": 3e5, "discard_ns": 3e5, "merge_ns": 1e7, "erase_ns": 3e6, HOST_KIB: 3e3,
}  # fmt: skip
# The host's time for each KiB, ns. Where the bus is the slowest part only their sum is seen, so it is fitted
# with a prior: evenly distributed from 0, by DMA, to 400. The virtual board, which copies, has
# 313 for writes and 385 for reads.
HOST_KIB_MEAN, HOST_KIB_SIGMA = 200, 115
BUS = "bus_mb_s"
BUS_SCALE = 10.0
MOST_BUS = 10000
MOST_NS = 1e9
# of a derivative, of the value and of its scale: the model's times are whole numbers
STEP, LEAST_STEP = 0.02, 0.01
# residuals beyond this many standard deviations count less
FAR = 3.0
# a step that makes the cost smaller by less is the last
FTOL = 1e-4


def to_number(name: str, value: float) -> float:
    """Return a parameter as it is fitted."""
    return 1000 / value / BUS_SCALE if name == BUS else value / SCALES[name]


def from_number(name: str, number: float) -> float:
    """Return a parameter from what was fitted."""
    if name == BUS:
        return float(np.clip(1000 / BUS_SCALE / max(number, 1e-9), 1, MOST_BUS))
    return float(np.clip(number * SCALES[name], 0, MOST_NS))


def stepped(name: str, value: int) -> int:
    """Return a parameter, with the step of a derivative."""
    if name == BUS:
        return value - max(1, round(STEP * value)) if value > 1 else 2
    return value + max(1, round(STEP * value), round(LEAST_STEP * SCALES[name]))


@dataclass(frozen=True)
class Fit:
    """Parameters, and how well the cells are met."""

    candidate: Candidate
    cost: float  # half the sum of the squares of the residuals, in standard deviations; far ones count less
    cells: int

    @property
    def cost_of_a_cell(self) -> float:
        """Return the mean cost: about 0.5 if the device behaves like the model."""
        return self.cost / self.cells


@dataclass(frozen=True)
class Problem:
    """Cells of a measurement, and their measured statistics."""

    measurement: Measurement
    cells: Cells
    measured: np.ndarray  # logarithms
    sigmas: np.ndarray

    def residuals(self, candidate: Candidate, more_ns: np.ndarray | int = 0) -> np.ndarray:
        """Return the residual of each cell, in standard deviations, and of the host's time for each KiB.

        more_ns: as of Candidate.replay.
        """
        latency, _ = candidate.replay(self.measurement, more_ns)
        found = (np.log(self.cells.statistics(latency)) - self.measured) / self.sigmas
        return np.append(found, (candidate.value(HOST_KIB) - HOST_KIB_MEAN) / HOST_KIB_SIGMA)

    def cost(self, candidate: Candidate) -> float:
        """Return the cost of a candidate as it is, as in `Fit`."""
        squares = np.square(self.residuals(candidate) / FAR)
        return float(FAR**2 * (np.sqrt(1 + squares) - 1).sum())

    def jacobian(self, here: Candidate, names: Sequence[str]) -> np.ndarray:
        """Return the derivatives of the residuals by these parameters, as they are fitted."""
        base, columns = self.residuals(here), []
        for name in names:
            value = here.value(name)
            other = stepped(name, value)
            rise = to_number(name, other) - to_number(name, value)
            columns.append((self.residuals(here.changed(**{name: other})) - base) / rise)
        return np.array(columns).T

    def solve(self, start: Candidate, names: Sequence[str], most: int) -> Fit:
        """Fit these parameters from a start, in at most so many steps.

        The bus is a whole number: a step of all parameters together stops short of the minimum, so the others
        are fitted again with the bus that was found.
        """
        others = [name for name in names if name != BUS]
        found = self.steps(start, names, most)
        return self.steps(found.candidate, others, most) if 0 < len(others) < len(names) else found

    def steps(self, start: Candidate, names: Sequence[str], most: int) -> Fit:
        """Fit these parameters from a start, in at most so many steps."""

        def candidate(numbers: np.ndarray) -> Candidate:
            pairs = zip(names, numbers, strict=True)
            values = {name: round(from_number(name, number)) for name, number in pairs}
            return start.changed(**values).possible()

        first = [to_number(name, start.value(name)) for name in names]
        low = [to_number(name, MOST_BUS if name == BUS else 0) for name in names]
        # a time without an upper bound: the method scales by the distance to one
        high = [to_number(name, 1) if name == BUS else np.inf for name in names]
        found = least_squares(
            lambda numbers: self.residuals(candidate(numbers)), np.clip(first, low, high),
            jac=lambda numbers: self.jacobian(candidate(numbers), names),
            bounds=(low, high), loss="soft_l1", f_scale=FAR, max_nfev=most, ftol=FTOL,
        )  # fmt: skip
        return Fit(candidate(found.x), float(found.cost), len(self.cells.names))


def problem(measurement: Measurement, cells: Cells) -> Problem:
    """Return the problem to fit."""
    latency = measurement.latency_ns.astype(float)
    return Problem(measurement, cells, np.log(cells.statistics(latency)), cells.sigmas(latency))
