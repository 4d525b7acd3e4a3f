"""`make calibrate … RUN=…`: replay a run's commands on the model; print the effect of each timing parameter.

Each is halved, then doubled. A command arrives as long after the last one that had ended as in the run: the
host's time is kept.
"""

import heapq
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analysis.adapters import device_logs
from base.errors import BadInputError
from base.text import printable_lines
from images.flash_model import DRIVER, FlashModel
from model.block_operations import DISCARD, FLUSH, FUA, OP, READ, WRITE

LOG = Path("raw/device.bin")
FACTORS = (0.5, 2.0)
LEAST_PERMILLE = 1  # effects below this are listed together


def commands_of(folder: Path) -> np.ndarray:
    """Return the commands of a run's device log."""
    path = folder / LOG
    if not path.is_file():
        raise BadInputError(f"RUN={folder}: there is no {LOG}; a run with a device of {DRIVER} has one")
    log = device_logs.reader_of(DRIVER).read_log(path)
    entries = log.entries[log.entries["end_ns"] > 0]
    if not entries.size:
        raise BadInputError(f"RUN={folder}: {LOG} has no commands")
    return entries


def send(model: FlashModel, now: int, operation: int, sector: int, sectors: int) -> int:
    """Send a command of a device log to the model; return its end."""
    kind = operation & OP
    if kind == READ:
        return model.read(now, sector, sectors)
    if kind == WRITE:
        return model.write(now, sector, sectors, bool(operation & FUA))
    if kind == DISCARD:
        return model.discard(now, sector, sectors)
    assert kind == FLUSH, operation
    return model.flush(now)


def replay(profile: Mapping[str, Any], entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return begin and end of each command, in ns; the first begins as it was recorded."""
    model = FlashModel(profile)
    in_flight: list[tuple[int, int]] = []  # recorded and replayed end
    begins, ends, now = [], [], int(entries["begin_ns"][0])
    ended = (now, now)
    fields = ("begin_ns", "end_ns", "operation", "sector", "sectors")
    for begin, recorded_end, *command in zip(*(entries[name].tolist() for name in fields), strict=True):
        while in_flight and in_flight[0][0] <= begin:
            ended = max(ended, heapq.heappop(in_flight))
        now = max(now, ended[1] + begin - ended[0])
        end = send(model, now, *command)
        heapq.heappush(in_flight, (recorded_end, end))
        begins.append(now)
        ends.append(end)
    return np.array(begins), np.array(ends)


def device_ns(profile: Mapping[str, Any], entries: np.ndarray) -> int:
    """Return the sum of the latencies."""
    begins, ends = replay(profile, entries)
    return int((ends - begins).sum())


def effects(profile: Mapping[str, Any], entries: np.ndarray) -> Iterator[tuple[str, list[float]]]:
    """Yield each timing parameter and the relative change of the device time by each factor."""
    base = device_ns(profile, entries)
    for name, value in profile["timing"].items():
        if name != "seed" and value:
            changed = [
                {**profile, "timing": {**profile["timing"], name: max(1, round(value * factor))}}
                for factor in FACTORS
            ]
            yield name, [device_ns(other, entries) / base - 1 for other in changed]


def sensitivity(device: str, profile: Mapping[str, Any], folder: Path) -> int:
    """Print how the device time of a run's commands changes with each timing parameter."""
    if profile["driver"] != DRIVER:
        raise BadInputError(f"DEVICE={device} RUN=…: only a device of {DRIVER} has a model")
    entries = commands_of(folder)
    recorded = int((entries["end_ns"] - entries["begin_ns"]).sum())
    lines = [
        f"{entries.size} commands: {recorded / 1e6:.3f} ms of device time recorded, "
        f"{device_ns(profile, entries) / 1e6:.3f} ms on {device}",
        f"{'parameter':20} {'halved':>8} {'doubled':>8}",
    ]
    without = []
    for name, changes in effects(profile, entries):
        if max(map(abs, changes)) * 1000 < LEAST_PERMILLE:
            without.append(name)
            continue
        lines.append(f"{name:20} {100 * changes[0]:+7.1f}% {100 * changes[1]:+7.1f}%")
    if without:
        lines.append(f"below 0.1 %: {', '.join(without)}")
    print(printable_lines(lines))
    return 0
