"""Estimate a device's times from medians of a few groups of commands, as the start of a fit."""

import numpy as np

from commitpath.fitting.candidate import Candidate
from commitpath.fitting.experiment_lists import KIB
from commitpath.fitting.measurement import Measurement


class Medians:
    """Medians of cells by name, for first values."""

    def __init__(self, measurement: Measurement) -> None:
        self.latency = measurement.latency_ns.astype(float)
        self.cells = measurement.cells

    def __call__(self, cell: str) -> float:
        """Return the median of a cell, ns."""
        return float(np.median(self.latency[self.cells == cell]))

    def has(self, cell: str) -> bool:
        """Return whether there is such a cell."""
        return bool((self.cells == cell).any())


def is_cached(medians: Medians) -> bool:
    """Return whether a FLUSH after a write takes other time than one without: the write was in a cache."""
    clean, dirty = medians("flushes: clean"), medians("flushes: 1 of 4k flush idle")
    return bool(abs(np.log(dirty / clean)) > 0.1)


def first_values(measurement: Measurement, known: Candidate, cached: bool) -> Candidate:
    """Return times near those of the device, from a few medians."""
    median, facts = Medians(measurement), measurement.facts
    again = median("read sizes: 4k again")
    per_byte = max(0.01, (median("read sizes: 512k again") - median("read sizes: 256k again")) / (256 * KIB))
    bus = 4 * KIB * per_byte
    command = max(2000.0, again - facts.host_ns - bus)
    near = median(
        "far and near: near flush" if facts.write_cache and not facts.fua and cached else "far and near: near"
    )
    program = max(20000.0, near - again)
    values = {
        "command_ns": command,
        "bus_mb_s": 1000 / per_byte,
        "read_ns": max(1000.0, median("read sizes: 4k") - again),
        "program_ns": program * (0.7 if facts.fua or cached else 0.95),
        "fua_ns": 0.2 * program if facts.fua else 0,
    }
    if known.value("slc_mib"):
        values["slc_program_ns"] = program * 0.7
    if facts.write_cache:
        values["flush_clean_ns"] = max(0.0, median("flushes: clean") - facts.host_ns)
        values["flush_dirty_ns"] = 0.2 * median("flushes: 1 of 4k flush idle") if cached else 0
    if facts.discard:
        values["discard_ns"] = max(1000.0, median("discards: 1m") - facts.host_ns - command)
    if known.value("open_units"):
        values["merge_ns"] = max(1e5, median("merges: merge") - near)
        values["erase_ns"] = min(3e6, values["merge_ns"])
    return known.changed(**{name: round(value) for name, value in values.items()})
