"""Devices with hidden parameters, drawn within physical limits, and their measurement on this host.

The host takes 27 to 31 us a command; the device's time has a jitter of 5 %, and 1 in 1000 commands ends 2 to
20 ms later.
"""

import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from commitpath.fitting.candidate import MORE_MIB, Candidate  # noqa: E402
from commitpath.fitting.experiment_lists import KIB, MIB, Facts, Row  # noqa: E402
from commitpath.fitting.measurement import Measurement, command_list, planned  # noqa: E402
from images.flash_model import FlashModel  # noqa: E402

SIZE = 1024 * MIB
JITTER = 0.05
INTERRUPTED = 0.001
INTERRUPTION_NS = (2e6, 20e6)


class Draw:
    """Random numbers of one device."""

    def __init__(self, seed: int) -> None:
        self.numbers = np.random.default_rng(seed)

    def between(self, least: float, most: float) -> int:
        """Return a number, its logarithm evenly distributed."""
        return round(float(np.exp(self.numbers.uniform(np.log(least), np.log(most)))))

    def one(self, *values: int) -> int:
        """Return one of these."""
        return int(self.numbers.choice(values))

    def chance(self, share: float) -> bool:
        """Return yes in a share of the devices."""
        return bool(self.numbers.random() < share)


def common(draw: Draw) -> dict[str, int]:
    """Draw what every device has."""
    return {
        "block_bytes": 512,
        "discard": 1,
        "dies": draw.one(1, 2, 3, 4, 6, 8),
        "read_bytes": draw.one(4, 8, 16, 32) * KIB,
        "program_bytes": draw.one(8, 16, 32, 64) * KIB,
        "command_ns": draw.between(20e3, 200e3),
        "bus_mb_s": draw.between(20, 500),
        "read_ns": draw.between(40e3, 250e3),
        "program_kib_ns": draw.one(0, 1) * draw.between(5e3, 40e3),
        "discard_ns": draw.between(50e3, 1e6),
        "seed": draw.one(*range(2, 1000)),
    }


def log_block(draw: Draw) -> Candidate:
    """Draw a device that maps allocation units; some have a finite log, some a FLUSH."""
    values = common(draw)
    values |= {
        "unit_kib": draw.one(1, 2, 4, 8, 16) * 1024,
        "open_units": draw.one(*range(1, 11)),
        "program_ns": draw.between(300e3, 2e6),
        "merge_ns": draw.between(3e6, 50e6),
        "erase_ns": draw.between(1e6, 6e6),
    }
    values["merge_spread_ns"] = round(values["merge_ns"] * float(draw.numbers.uniform(0, 1)))
    if draw.chance(0.4):
        values["log_kib"] = min(values["unit_kib"], draw.one(256, 512, 1024, 2048))
        values["pad_bytes"] = draw.one(0, values["program_bytes"])
    if draw.chance(0.3):
        values["write_command_ns"] = draw.between(20e3, 300e3)
    if draw.chance(0.5):
        values |= {"write_cache": 1, "fua": draw.one(0, 1), "flush_clean_ns": draw.between(20e3, 500e3)}
        values["fua_ns"] = values["fua"] * draw.between(20e3, 1e6)
    return Candidate(values, draw.one(0, 1, 4) * MIB)


def page_mapped(draw: Draw) -> Candidate:
    """Draw a device with a page map and a cache; some have SLC, a map cache, a write command time."""
    values = common(draw)
    values |= {
        "write_cache": 1,
        "fua": int(draw.chance(0.8)),
        "cache_reorder": draw.one(0, 1),
        "program_ns": draw.between(200e3, 1.5e6),
        "flush_clean_ns": draw.between(10e3, 200e3),
        "flush_dirty_ns": draw.between(20e3, 1e6),
        "flush_dirty_kib_ns": draw.one(0, 0, 1) * draw.between(200, 2000),
    }
    values["cache_kib"] = max(
        2 * values["program_bytes"] // KIB, draw.one(64, 128, 256, 512, 1024, 2048, 4096)
    )
    values["fua_ns"] = values["fua"] * draw.between(20e3, 1e6)
    if draw.chance(0.3):
        values["write_command_ns"] = draw.between(20e3, 100e3)
    if draw.chance(0.25):
        values["slc_mib"] = draw.one(16, 32, 64, 128)
        values["slc_program_ns"] = values["program_ns"]
        values["program_ns"] *= draw.one(3, 4, 5)
    if draw.chance(0.25):
        # pages of the map
        values["map_kib"] = values["read_bytes"] // KIB * draw.one(2, 4, 8, 16)
    return Candidate(values, draw.one(0, 1, 4) * MIB)


def facts_of(hidden: Candidate, host_ns: int) -> Facts:
    """Return what a kernel would report of a device."""
    return Facts(
        SIZE,
        hidden.value("block_bytes"),
        bool(hidden.value("write_cache")),
        bool(hidden.value("fua")),
        bool(hidden.value("discard")),
        host_ns,
    )


def measured(hidden: Candidate, draw: Draw) -> Measurement:
    """Send the planned commands to a device, from this host's point of view."""
    host = float(draw.numbers.uniform(27e3, 31e3))
    facts = facts_of(hidden, round(host))
    names, rows = planned(facts)
    number = len(rows)
    gaps = np.array([row.idle_ns for row in rows])
    commands = command_list(rows, gaps, 0)
    late = draw.numbers.random(number) < INTERRUPTED
    noisy = replace(
        commands,
        sector=commands.sector + np.uint64(hidden.phase // 512),
        host_ns=host * draw.numbers.uniform(1 - JITTER, 1 + JITTER, number),
        factor=np.maximum(0.5, 1 + JITTER * draw.numbers.standard_normal(number)),
        more_ns=late * draw.numbers.uniform(*INTERRUPTION_NS, number),
    )
    model = FlashModel(hidden.profile(SIZE + MORE_MIB * MIB))
    latency, _ = model.commands(noisy)
    return Measurement(facts, np.array(names), rows, gaps, latency.astype(np.int64))


def time_of(device: Candidate, facts: Facts, rows: list[Row]) -> float:
    """Return the time of a sequence on a device without jitter, in ns, from when it was idle."""
    gaps = np.array([row.idle_ns for row in rows])
    measurement = Measurement(facts, np.array([""] * len(rows)), rows, gaps, gaps)
    latency, _ = device.replay(measurement)
    return float(latency.sum())


def drawn(seed: int) -> tuple[str, Candidate, Draw]:
    """Return a device by its number: odd ones map units, even ones pages."""
    draw = Draw(seed)
    return ("units", log_block(draw), draw) if seed % 2 else ("pages", page_mapped(draw), draw)
