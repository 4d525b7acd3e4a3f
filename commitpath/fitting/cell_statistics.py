"""Summarise measured latencies for the fit: median or mean of each group of commands, and its deviation."""

from dataclasses import dataclass

import numpy as np

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
