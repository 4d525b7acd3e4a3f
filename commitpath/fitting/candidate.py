"""Class Candidate: flash model parameters that the fit tries; replay of commands; first guesses of times."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from commitpath.fitting.experiment_lists import KIB, MIB, Facts
from commitpath.fitting.measurement import SECTOR, Measurement
from images.flash_model import DRIVER, EVENTS, FlashModel
from model import devices

# of a device without anything: what a measurement decides replaces it
PLAIN = {
    "block_bytes": 512, "queue_depth": 1, "write_cache": 0, "fua": 0, "exclusive": 0, "rel_sectors": 0,
    "meta_reliable": 0, "discard": 0, "dies": 1, "read_bytes": 4096, "program_bytes": 4096, "pad_bytes": 0,
    "cache_kib": 0, "cache_reorder": 0, "open_units": 0, "unit_kib": 4096, "log_kib": 0, "erase_kib": 4096,
    "spare_permille": 70, "gc_blocks": 0, "fill_permille": 0, "overwrite_permille": 0, "map_kib": 0,
    "slc_mib": 0, "undo_kib": 65536,
}  # fmt: skip
TIMES = {
    "seed": 1, "command_ns": 0, "read_command_ns": 0, "write_command_ns": 0, "bus_mb_s": 100000, "read_ns": 0,
    "program_ns": 0, "program_kib_ns": 0, "slc_program_ns": 0, "flush_clean_ns": 0, "flush_dirty_ns": 0,
    "flush_dirty_kib_ns": 0, "fua_ns": 0, "discard_ns": 0, "merge_ns": 0, "merge_spread_ns": 0, "erase_ns": 0,
}  # fmt: skip
# of the host, not of the device: its time for each KiB of data, beyond facts.host_ns
HOST_KIB = "host_kib_ns"
DEVICE = devices.by_name(DRIVER)
# beyond the measured part, so that a phase fits
MORE_MIB = 128
READ, MAP, MERGE, SWITCH = range(len(EVENTS))


@dataclass(frozen=True)
class Candidate:
    """Parameters, all others as in PLAIN and TIMES. phase: from the begin of a unit to the partition's."""

    values: Mapping[str, int] = field(default_factory=dict)
    phase: int = 0

    def changed(self, phase: int | None = None, **values: int) -> "Candidate":
        """Return one with other parameters."""
        return replace(self, values={**self.values, **values}, phase=self.phase if phase is None else phase)

    def value(self, name: str) -> int:
        """Return a parameter."""
        return int({**PLAIN, **TIMES, HOST_KIB: 0, **self.values}[name])

    def possible(self) -> "Candidate":
        """Return the nearest device that contradicts no physics: a profile of another would be refused."""
        every = {**PLAIN, **TIMES, **self.values}
        return self.changed(**{name: nearest for name, (nearest, _) in DEVICE.impossible(every).items()})

    def profile(self, size_bytes: int) -> dict[str, object]:
        """Return geometry, timing and size, as in experiments/device/."""
        return {
            "geometry": {name: self.value(name) for name in PLAIN},
            "timing": {name: self.value(name) for name in TIMES},
            "size_mib": size_bytes // MIB,
        }

    def replay(
        self, measurement: Measurement, more_ns: np.ndarray | int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the model's time for each command, with the host's, and the counts of its EVENTS.

        more_ns: further time of the host in each command.
        """
        model = FlashModel(self.profile(measurement.facts.size_bytes + MORE_MIB * MIB))
        commands = measurement.commands
        copied = measurement.data_bytes * self.value(HOST_KIB) // KIB + more_ns
        moved = replace(
            commands,
            sector=commands.sector + np.uint64(self.phase // SECTOR),
            host_ns=commands.host_ns + copied.astype(np.uint64),
        )
        latency, events = model.commands(moved)
        return latency.astype(float), events.astype(int)

    def has(self, measurement: Measurement, *events: int) -> np.ndarray:
        """Return which commands have one of these events."""
        return np.asarray((self.replay(measurement)[1][:, events] > 0).any(axis=1))


def of_facts(facts: Facts) -> Candidate:
    """Return what the kernel reports."""
    return Candidate(
        {
            "block_bytes": facts.block_bytes,
            "write_cache": int(facts.write_cache),
            "fua": int(facts.fua),
            "discard": int(facts.discard),
        }
    )


class Medians:
    """Medians of cells by name, for first values."""

    def __init__(self, measurement: Measurement) -> None:
        self.latency = measurement.latency_ns.astype(float)
        self.cells = measurement.cells

    def __call__(self, cell: str) -> float:
        """Return the median of a cell, ns."""
        return float(np.median(self.latency[self.cells == cell]))


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
