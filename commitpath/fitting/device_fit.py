"""Fit the flash model to a measurement: structure, program unit, cache, times; find equally good devices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from base.errors import BadInputError
from commitpath.fitting import intervals, structure
from commitpath.fitting.candidate import (
    HOST_KIB,
    MAP,
    MERGE,
    SWITCH,
    Candidate,
    Medians,
    first_values,
    is_cached,
    of_facts,
)
from commitpath.fitting.experiment_lists import EXPERIMENTS, KIB
from commitpath.fitting.intervals import Intervals, with_spread
from commitpath.fitting.joint_fit import BUS, HOST_KIB_MEAN, Fit, Problem, divided, problem
from commitpath.fitting.measurement import Measurement
from commitpath.fitting.neighbours import PROGRAM_KIB, neighbours, sizes

# experiments that decide program unit and cache
BEHIND = ("sustained", "far and near", "write sizes", "flushes", "bursts")
# commands of the sustained write that do, without an SLC
EARLY = 100
# times that the first values have near enough
KNOWN_FIRST = (HOST_KIB, "command_ns", BUS, "read_ns", "flush_clean_ns", "discard_ns")
# steps of a fit from near its end, and of one to its end
FEW, MANY = 4, 24
# structure experiments: single commands matter there, not cells
NOT_FITTED = ("read pages", "full log")
# fits that cost this much more than the best are no worse: two standard deviations
ALIKE = 2.0
# commands so much longer than the host's time have the jitter of the device
LONG = 10


@dataclass(frozen=True)
class Result:
    """A fitted device."""

    candidate: Candidate  # with the host's HOST_KIB, which is not part of the device
    intervals: Intervals
    alike: dict[str, tuple[int, ...]]
    cost_of_a_cell: float
    jitter: float
    # devices that fit as well, by the undecided part of their geometry and its value
    others: Mapping[tuple[str, int], Candidate] = field(default_factory=dict)


def parameters(known: Candidate) -> list[str]:
    """Return the times that a device of this structure has."""
    names = [HOST_KIB, "command_ns", "write_command_ns", BUS, "read_ns", "program_ns", "program_kib_ns"]
    names += ["slc_program_ns"] if known.value("slc_mib") else []
    names += ["flush_clean_ns"] if known.value("write_cache") else []
    names += ["flush_dirty_ns", "flush_dirty_kib_ns"] if known.value("cache_kib") else []
    names += ["fua_ns"] if known.value("fua") else []
    names += ["discard_ns"] if known.value("discard") else []
    return names + (["merge_ns", "erase_ns"] if known.value("open_units") else [])


def events(measurement: Measurement, start: Candidate) -> np.ndarray:
    """Return 2 for commands that merge by copying, 1 for those that only erase, plus 4 if the map is read."""
    counts = start.replay(measurement)[1]
    merged = np.where(counts[:, MERGE] > 0, 2, counts[:, SWITCH] > 0)
    return np.asarray(merged + 4 * (counts[:, MAP] > 0))


def with_program(start: Candidate, kib: int, cached: bool, median: Medians) -> list[Candidate]:
    """Return a program unit, with times that a full one leaves, and with the time per KiB within a unit."""
    bus = 512 * KIB * 1000 / start.value("bus_mb_s") + start.value("command_ns")
    rounds = 512 / (kib * start.value("dies"))
    if cached:
        # a sustained write; the bus may be slower
        large = median("sustained: 14")
        full = large / rounds if large > 1.15 * bus else 0.0
    else:
        full = (median("write sizes: w 512k") - bus) / max(1.0, rounds)
    unit = start.changed(program_bytes=kib * KIB)
    if start.value("slc_mib"):
        # a program after the SLC takes as long as a full unit, small or not
        return [unit.changed(program_ns=max(start.value("program_ns"), round(full)))]
    found = [unit.changed(program_kib_ns=max(0, round((full - start.value("program_ns")) / kib)))]
    if kib > 4:
        found.append(unit.changed(program_kib_ns=max(0, round(within_unit(unit, kib, cached, median)))))
    return found


def within_unit(start: Candidate, kib: int, cached: bool, median: Medians) -> float:
    """Return the time per KiB in which a program grows up to a unit: by FLUSH, where only it is durable."""
    if cached and not start.value("fua"):
        number = min(kib // 4, 16)
        few, many = (median(f"flushes: {n} of 4k flush idle") for n in (1, number))
        return (many - few) / (4 * number - 4)
    durable = "f" if start.value("fua") else "w"
    rise = median(f"write sizes: {durable} {kib}k") - median(f"write sizes: {durable} 4k")
    return rise / (kib - 4) - KIB * 1000 / start.value("bus_mb_s")


def behind_cache(measurement: Measurement, start: Candidate, cached: bool) -> list[Fit]:
    """Return fits with each program unit, and each cache, best first."""
    sustained = measurement.among("sustained")
    late = sustained & (np.cumsum(sustained) > EARLY) & (start.value("slc_mib") == 0)
    part = measurement.chosen(measurement.among(*BEHIND) & ~late)
    posed = problem(part, divided(part, events(part, start)))
    device = start.changed(cache_kib=int(cached) * 512)
    names = [name for name in parameters(device) if name not in KNOWN_FIRST]
    median, starts = Medians(measurement), list[Candidate]()
    for kib in PROGRAM_KIB:
        if start.value("pad_bytes") > kib * KIB:
            continue
        units = with_program(start, kib, cached, median)
        if cached:
            # a size far from the true one draws all times with it
            at = units[-1]
            units = [
                min((at.changed(cache_kib=size, cache_reorder=order) for size in sizes(kib)), key=posed.cost)
                for order in (0, 1)
            ]
        starts += units
    fits = by_cost(posed.solve(one, names, FEW) for one in starts)
    fits = by_cost(posed.solve(fit.candidate, names, FEW) for fit in fits[:6])
    return caches(posed, fits[:3], names)[:3] if cached else fits[:3]


def caches(posed: Problem, fits: Sequence[Fit], names: Sequence[str]) -> list[Fit]:
    """Return fits with other cache sizes, best first."""

    tried = list(fits)
    for fit in fits:
        others = [
            fit.candidate.changed(cache_kib=kib) for kib in sizes(fit.candidate.value("program_bytes") // KIB)
        ]
        nearest = sorted(others, key=lambda other: rough_cost(posed, other))[:3]
        tried += [posed.solve(other, names, FEW) for other in nearest]
    return by_cost(tried)


def by_cost(fits: Iterable[Fit]) -> list[Fit]:
    """Return fits, best first."""
    return sorted(fits, key=lambda fit: fit.cost)


def slc_sizes(posed: Problem, fit: Fit) -> Fit:
    """Return the fit with the SLC size, near the one found, that costs least."""
    if not (mib := fit.candidate.value("slc_mib")):
        return fit
    tried = [fit.candidate.changed(slc_mib=size) for size in range(max(1, mib - 8), mib + 9)]
    return replace(fit, candidate=min(tried, key=lambda one: rough_cost(posed, one)))


def rough_cost(posed: Problem, candidate: Candidate) -> float:
    """Return the sum of a candidate's residuals, each limited: enough to compare sizes."""
    return float(np.abs(posed.residuals(candidate)).clip(0, 20).sum())


def same_caches(posed: Problem, best: Fit) -> tuple[int, ...]:
    """Return the other cache sizes that fit as well: where the bus is slower than the flash, several."""
    least, cache = best.candidate.value("program_bytes") // KIB, best.candidate.value("cache_kib")
    others = [kib for kib in sizes(least) if cache and kib != cache]
    costs = {kib: posed.cost(best.candidate.changed(cache_kib=kib)) for kib in others}
    return tuple(kib for kib in others if costs[kib] < best.cost + ALIKE)


def descend(posed: Problem, best: Fit) -> tuple[Fit, list[Fit]]:
    """Go to the neighbour that costs least until none is better; return it, and its neighbours."""
    while True:
        tried = by_cost(posed.solve(one, times(one), FEW) for one in neighbours(best.candidate))
        if tried[0].cost > best.cost - ALIKE:
            return best, tried
        best = posed.solve(tried[0].candidate, times(tried[0].candidate), MANY)


def other_fits(
    posed: Problem, best: Fit, alike: Mapping[str, Sequence[int]], as_good: Sequence[Fit], no_worse: float
) -> dict[tuple[str, int], Candidate]:
    """Return devices with the least and the most value of each undecided part, their times fitted again."""
    found: dict[tuple[str, int], Candidate] = {}
    for name, values in alike.items():
        every = {*values, best.candidate.value(name)}
        for value in sorted({min(every), max(every)} - {best.candidate.value(name)}):
            start = best.candidate.changed(**{name: value})
            near = next((one for one in as_good if one.candidate.value(name) == value), None)
            try:
                fit = near or posed.solve(start, times(start), FEW)
            except BadInputError:
                # no such device, such as one with a log that is smaller than its program unit
                continue
            if fit.cost < no_worse and fit.candidate not in found.values():
                found[name, value] = fit.candidate
    return found


def times(known: Candidate) -> list[str]:
    """Return the times that a device of this structure has, but the bus, which is a neighbour's."""
    return [name for name in parameters(known) if name != BUS]


def of_reads(measurement: Measurement, start: Candidate) -> Candidate:
    """Return the times of a read, which nothing else decides."""
    part = measurement.chosen(measurement.among("read sizes"))
    posed = problem(part, divided(part, events(part, start)))
    return posed.solve(start, (HOST_KIB, "command_ns", BUS, "read_ns"), 2 * FEW).candidate


def fit(measurement: Measurement) -> Result:
    """Fit a device."""
    measurement = measurement.chosen(measurement.among(*EXPERIMENTS))
    found = structure.find(measurement, of_facts(measurement.facts))
    cached = measurement.facts.write_cache and is_cached(Medians(measurement))
    first = first_values(measurement, found.candidate, cached).changed(**{HOST_KIB: HOST_KIB_MEAN})
    start = of_reads(measurement, first)
    rough = behind_cache(measurement, start, cached)

    def posed_by(one: Candidate) -> Problem:
        return problem(measurement, divided(measurement, events(measurement, one), *NOT_FITTED))

    posed = posed_by(rough[0].candidate)
    tried = by_cost(
        posed.solve(slc_sizes(posed, one).candidate, parameters(one.candidate), 2 * FEW) for one in rough
    )
    best = posed.solve(tried[0].candidate, parameters(tried[0].candidate), MANY)
    # which commands merge, or read the map, hangs on what was found
    posed = posed_by(best.candidate)
    best, tried = descend(posed, posed.solve(best.candidate, parameters(best.candidate), MANY))
    alike = dict(found.alike)
    if caches_alike := same_caches(posed, best):
        alike["cache_kib"] = caches_alike
    names = parameters(best.candidate)
    no_worse = best.cost + ALIKE * intervals.misfit(posed, best, len(names))
    as_good = [one for one in tried if one.cost < no_worse]
    for name in ("program_bytes", "cache_reorder"):
        if others := {one.candidate.value(name) for one in as_good} - {best.candidate.value(name)}:
            alike[name] = tuple(sorted(others))
    bounds: Intervals = intervals.covering(
        (intervals.of_fit(posed, one, parameters(one.candidate)) for one in (best, *as_good)),
        [name for name in names if name != HOST_KIB],
    )
    jitter = posed.cells.jitter(measurement.latency_ns.astype(float))
    of_device = posed.cells.jitter(measurement.latency_ns.astype(float), LONG * measurement.facts.host_ns)

    def spread(one: Candidate) -> tuple[Candidate, Intervals]:
        if not one.value("open_units"):
            return one, bounds
        which = events(measurement, one) == 2
        which &= measurement.among("march", "open units", "merges")
        return with_spread(measurement, which, one, bounds, of_device)

    return Result(
        *spread(best.candidate), alike, best.cost_of_a_cell, jitter,
        {part: spread(one)[0] for part, one in other_fits(posed, best, alike, as_good, no_worse).items()},
    )  # fmt: skip
