"""Find a device's page size, dies, allocation unit, log, map cache and SLC size from measured latencies.

Each hypothesis is replayed on the model. It divides the commands into those that pay for an event (a page
sensed, a unit merged, a part of the map read) and those that do not. The best one has the smallest deviations
from the medians of its groups. So durations need not be known, and outliers count little.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from commitpath.fitting.candidate import MAP, MERGE, READ, SWITCH, Candidate
from commitpath.fitting.experiment_lists import KIB, MIB, SPAN
from commitpath.fitting.measurement import Measurement

# an event that is there makes the deviations this much smaller, and its commands this much slower
LEAST_GAIN = 0.15
LEAST_RATIO = 1.25
LEAST_HITS = 0.5
# reads without the event are of the same kind and as many
LEAST_MAP_RATIO = 1.08
# hypotheses within this of the best are not distinguished
ALIKE = 0.01
# a log that was full less often is not distinguished from interruptions of the host
LEAST_MERGES = 4
# as many as the model has: with fewer hypotheses, more are taken for another number
MOST_DIES = 64
MOST_OPEN = 64
# two blocks of slc_mib, after two that fill the cache
LEAST_SLC_MIB = 16
PAGES_KIB = (1, 2, 4, 8, 16, 32, 64)
UNITS_KIB = sorted([512 << n for n in range(8)] + [1536 << n for n in range(6)])
PHASE_STEP = 512 * KIB


@dataclass(frozen=True)
class Found:
    """The best hypothesis, and those that explain the measurement as well."""

    best: Candidate
    alike: tuple[Candidate, ...]
    gain: float  # of the deviations, against no event at all
    ratio: float  # of the commands with the event to those without
    hits: float  # commands that are slow and have the event, of those that are or have one

    @property
    def is_there(self) -> bool:
        """Return whether there are such events."""
        return self.gain > LEAST_GAIN and self.ratio > LEAST_RATIO


def deviations(logs: np.ndarray, groups: np.ndarray) -> float:
    """Return the sum of the deviations from the medians of their groups."""
    order = np.lexsort((logs, groups))
    values, edges = logs[order], np.flatnonzero(np.diff(groups[order], prepend=-1))
    counts = np.diff(np.append(edges, values.size))
    medians = (values[edges + (counts - 1) // 2] + values[edges + counts // 2]) / 2
    return float(np.abs(values - np.repeat(medians, counts)).sum())


def best_of(
    measurement: Measurement,
    which: np.ndarray,
    hypotheses: Iterable[Candidate],
    events: Callable[[Candidate], np.ndarray],
) -> Found:
    """Compare hypotheses on some of the commands. events: whether each command pays, or a kind of payment."""
    logs = np.log(measurement.latency_ns[which])
    kinds = [(row.op, row.size) for row, chosen in zip(measurement.rows, which, strict=True) if chosen]
    kind = np.unique([f"{op}{size}" for op, size in kinds], return_inverse=True)[1] * 4
    tried = []
    for hypothesis in hypotheses:
        event = events(hypothesis)[which]
        tried.append((deviations(logs, kind + event), hypothesis, event))
    least, best, event = min(tried, key=lambda one: one[0])
    null = deviations(logs, kind)
    alike = tuple(other for cost, other, _ in tried if cost <= least + ALIKE * null and other != best)
    pays = event == event.max()
    # all of a kind may take the same time, in virtual time
    gain = 1 - least / null if null else 0.0
    if pays.all():
        return Found(best, alike, gain, 1.0, 0.0)
    ratio = np.exp(np.median(logs[pays]) - np.median(logs[~pays]))
    return Found(best, alike, gain, float(ratio), hits(logs, kind, pays))


def hits(logs: np.ndarray, kind: np.ndarray, pays: np.ndarray) -> float:
    """Return how many commands are slow for their kind and pay, of those that are or do."""
    beyond = logs.copy()
    for one in np.unique(kind):
        rest = (kind == one) & ~pays
        beyond[kind == one] -= np.median(logs[rest if rest.any() else kind == one])
    slow = beyond > np.median(beyond[pays]) / 2
    return float((slow & pays).sum() / (slow | pays).sum())


def pages(measurement: Measurement, known: Candidate) -> Found:
    """Find the page and the dies, by reads that find a page in its die's register."""
    part = measurement.chosen(measurement.among("read pages"))
    return best_of(
        part,
        np.ones(len(part.rows), bool),
        (
            known.changed(read_ns=1, read_bytes=page * KIB, dies=dies)
            for page in PAGES_KIB
            for dies in range(1, MOST_DIES + 1)
        ),
        lambda hypothesis: hypothesis.has(part, READ),
    )


def map_cache(measurement: Measurement, known: Candidate) -> Found:
    """Find how much of the map the controller holds, by reads over growing ranges."""
    part = measurement.up_to("map reads")
    reach = known.value("read_bytes") * KIB  # of a page of the map: 4 bytes for each 4 KiB
    held = range(1, SPAN // reach + 1)

    def events(hypothesis: Candidate) -> np.ndarray:
        return np.asarray(hypothesis.has(part, MAP) * 2 + hypothesis.has(part, READ))

    hypotheses = (
        known.changed(read_ns=1, program_bytes=512 * KIB, map_kib=number * known.value("read_bytes") // KIB)
        for number in held
    )
    return best_of(part, part.among("map reads"), hypotheses, events)


def with_units(known: Candidate) -> Candidate:
    """Return a candidate with visible merges."""
    return known.changed(open_units=4, merge_ns=1, erase_ns=1)


def merged(part: Measurement) -> Callable[[Candidate], np.ndarray]:
    """Return what finds the commands that merge."""
    return lambda hypothesis: hypothesis.has(part, MERGE, SWITCH)


def log(measurement: Measurement, known: Candidate) -> Found:
    """Find the log of a unit: after how many writes of 64 and of 4 KiB in one unit it is merged."""

    def logged(kib: int, pad: int) -> Candidate:
        values = {"log_kib": kib, "program_bytes": pad * KIB, "pad_bytes": pad * KIB}
        return with_units(known).changed(unit_kib=4096, phase=0, **values)

    part = measurement.chosen(measurement.among("full log"))
    large = part.chosen(np.cumsum([row.size == 4 * KIB for row in part.rows]) == 0)
    # a FLUSH may follow each
    writes = sum(row.op != "F" for row in large.rows)
    numbers = (logged(number * 64, 64) for number in range(1, writes // LEAST_MERGES))
    least = best_of(large, np.ones(len(large.rows), bool), numbers, merged(large)).best.value("log_kib")
    return best_of(
        part,
        np.ones(len(part.rows), bool),
        (
            logged(kib, pad)
            for pad in (4, 8, 16, 32, 64, 128)
            for kib in range(max(least, pad), least + 64, pad)
        ),
        merged(part),
    )


def units(measurement: Measurement, known: Candidate) -> Found:
    """Find the allocation unit and where the first one begins, by merges at multiples of it."""
    part = measurement.chosen(measurement.among("far and near", "march"))
    hypotheses = [
        with_units(known).changed(phase=phase, unit_kib=unit)
        for unit in UNITS_KIB
        for phase in range(0, unit * KIB, PHASE_STEP)
    ]
    return best_of(part, part.among("march"), hypotheses, merged(part))


def open_units(measurement: Measurement, known: Candidate) -> Found:
    """Find how many units are open at once, by writes to more and more of them in turn."""
    part = measurement.chosen(measurement.among("far and near", "march", "open units"))
    hypotheses = [with_units(known).changed(open_units=number) for number in range(1, MOST_OPEN + 1)]
    return best_of(part, part.among("open units"), hypotheses, merged(part))


def slc_mib(measurement: Measurement) -> int:
    """Return after how many MiB the sustained write becomes slower, to 4 MiB; 0: it does not."""
    which = measurement.among("sustained") & np.array([row.op == "w" for row in measurement.rows])
    block = 8
    times = measurement.latency_ns[which].reshape(-1, block)
    # the first blocks fill the cache; a block's two slowest may have been interrupted
    means = np.log(np.sort(times, axis=1)[2:, :-2].mean(axis=1))
    costs = [np.var(means[:n]) * n + np.var(means[n:]) * (means.size - n) for n in range(2, means.size - 2)]
    at = int(np.argmin(costs)) + 2
    if np.exp(means[at:].mean() - means[:at].mean()) < LEAST_RATIO:
        return 0
    return (at + 2) * block * 512 * KIB // MIB


@dataclass(frozen=True)
class Structure:
    """What was found; each hypothesis that is as good stands in `alike` by its parameter."""

    candidate: Candidate
    alike: dict[str, tuple[int, ...]]


def find(measurement: Measurement, known: Candidate) -> Structure:
    """Find the structure of a device."""
    alike: dict[str, tuple[int, ...]] = {}

    def keep(found: Found, *names: str) -> None:
        nonlocal known
        known = known.changed(**{name: found.best.value(name) for name in names})
        for name in names:
            others = {other.value(name) for other in found.alike} - {found.best.value(name)}
            if others:
                alike[name] = tuple(sorted(others))

    keep(pages(measurement, known), "read_bytes", "dies")
    found = map_cache(measurement, known)
    if found.gain > LEAST_GAIN and found.ratio > LEAST_MAP_RATIO:
        keep(found, "map_kib")
        # in the model a device with such a map has no units
        return Structure(known.changed(slc_mib=slc_mib(measurement)), alike)
    found = log(measurement, known)
    # merges are rare here: they make few deviations
    logged = found if found.ratio > LEAST_RATIO and found.hits > LEAST_HITS else None
    if logged:
        keep(logged, "log_kib", "pad_bytes")
        known = known.changed(program_bytes=max(known.value("program_bytes"), known.value("pad_bytes")))
    if (found := units(measurement, known)).is_there:
        keep(found, "unit_kib")
        known = known.changed(phase=found.best.phase)
        keep(open_units(measurement, known), "open_units")
    elif logged:
        known = known.changed(log_kib=0, pad_bytes=0)
        alike.pop("log_kib", None)
    if known.value("pad_bytes") == 4 * KIB:
        known = known.changed(pad_bytes=0)
    return Structure(known.changed(slc_mib=slc_mib(measurement)), alike)
