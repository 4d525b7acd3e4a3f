"""A recorded run made longer: python tests/bench/scale.py RUN_DIR TO_DIR EVENTS

What was recorded in the window (driver/device_stat.csv: the device is idle at both of its edges)
is repeated until the block trace has EVENTS records. Each repetition goes on where the last one
ended: times, sequence numbers, serials, jbd2's tids, calls and transactions are moved on, and
phases get a number, so that the longer run is as consistent as the recorded one. What came before
and after the window is there once. Cells, board and settings are the recorded run's.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from analysis.adapters import blkrecords, driver, proberecords  # noqa: E402
from analysis.adapters.proberecords import TYPES  # noqa: E402

_HEADER = proberecords.HEADER.itemsize


@dataclass(frozen=True)
class Window:
    """What is repeated: [begin, end) in ns, and how often."""

    begin: int
    end: int
    times: int

    @property
    def span(self) -> int:
        return self.end - self.begin

    def part(self, time: np.ndarray) -> np.ndarray:
        """0 before the window, 1 in it, 2 after it."""
        return (time >= self.begin).astype(int) + (time >= self.end)


def scale(run: Path, to: Path, events: int) -> int:
    """Write `run` with at least `events` block events to `to`; how many it has."""
    raw, ran = run / "raw", driver.read(run / "raw/driver")
    traces = sorted((raw / "blktrace").glob("*.blktrace.*"))
    begin, end = ran.window
    loaded = {path: blkrecords.read_file(path)[0] for path in traces}
    inside = sum(int(((rows["time"] >= begin) & (rows["time"] < end)).sum()) for rows in loaded.values())
    around = sum(rows.size for rows in loaded.values()) - inside
    window = Window(begin, end, max(1, -(-(events - around) // inside)))
    left_out = shutil.ignore_patterns("*.blktrace.*", "probes.bin", "*.csv")
    shutil.copytree(raw, to / "raw", ignore=left_out)
    shutil.copyfile(run / "cell.json", to / "cell.json")
    for path, rows in loaded.items():
        _trace(path, rows, to / "raw/blktrace" / path.name, window)
    _probes(raw / "probes.bin", to / "raw/probes.bin", window)
    _driver(raw / "driver", to / "raw/driver", window)
    return around + inside * window.times


def _trace(path: Path, rows: np.ndarray, to: Path, window: Window) -> None:
    """A file of blktrace: its records keep their payloads, so their bytes are edited in place."""
    data = np.fromfile(path, np.uint8)
    starts = np.cumsum(np.r_[0, blkrecords.RECORD.itemsize + rows["pdu_len"].astype(np.int64)])
    part = window.part(rows["time"])
    first, last = np.searchsorted(part, [1, 2])
    if (np.diff(part) < 0).any():
        sys.exit(f"scale: {path}: records out of the order of time at an edge of the window")
    at = starts[first:last] - starts[first]
    body = data[starts[first] : starts[last]]
    sequences = int(rows["sequence"].max()) + 1
    with to.open("wb") as file:
        file.write(data[: starts[first]].tobytes())
        for number in range(window.times):
            _field(body, at, "time", rows["time"][first:last] + np.uint64(number * window.span))
            _field(body, at, "sequence", rows["sequence"][first:last] + np.uint32(number * sequences))
            file.write(body.tobytes())
        tail, at = data[starts[last] :], starts[last:-1] - starts[last]
        _field(tail, at, "time", rows["time"][last:] + np.uint64((window.times - 1) * window.span))
        file.write(tail.tobytes())


def _field(data: np.ndarray, at: np.ndarray, name: str, values: np.ndarray) -> None:
    """Write a field of the records that begin `at` bytes into `data`."""
    assert blkrecords.RECORD.fields
    kind, offset = blkrecords.RECORD.fields[name][:2]
    places = at[:, None] + offset + np.arange(kind.itemsize)
    data[places] = values.astype(kind).view(np.uint8).reshape(-1, kind.itemsize)


def _probes(path: Path, to: Path, window: Window) -> None:
    rows = np.fromfile(path, proberecords.RECORD, offset=_HEADER)
    part = window.part(rows["begin_ns"])
    body = rows[part == 1]
    steps = {}
    for name, field, among in (
        ("block", "d", "block"),
        ("bio", "d", "bio"),
        ("pages", "d", "bio"),
        ("commit", "a", "commit"),
        ("commit_wait", "a", "commit"),
    ):
        values = body[body["type"] == TYPES[among]][field]
        steps[name, field] = int(values.max() - values.min()) + 1 if values.size else 0
    with path.open("rb") as source, to.open("wb") as file:
        file.write(source.read(_HEADER))
        rows[part == 0].tofile(file)
        for number in range(window.times):
            _moved(body, steps, number, window).tofile(file)
        _moved(rows[part == 2], steps, window.times - 1, window).tofile(file)


def _moved(rows: np.ndarray, steps: dict[tuple[str, str], int], number: int, window: Window) -> np.ndarray:
    """`rows` of the probes, `number` repetitions later."""
    moved = rows.copy()
    for field in ("begin_ns", "end_ns"):
        moved[field] += np.uint64(number * window.span)
    for (name, field), step in steps.items():
        moved[field] += np.where(rows["type"] == TYPES[name], np.uint64(number * step), np.uint64(0))
    queued = np.where(rows["type"] == TYPES["block"], np.uint64(number * window.span), np.uint64(0))
    moved["c"] += queued
    return moved


def _driver(folder: Path, to: Path, window: Window) -> None:
    """The driver's tables."""
    for name, number in (("transactions.csv", "transaction"), ("vfs.csv", "call")):
        _repeat(folder / name, to / name, window, number)
    phases = pl.read_csv(folder / "phases.csv", infer_schema_length=None)
    before = phases.filter(pl.col("begin_ns") < window.begin)
    rest = phases.filter(pl.col("begin_ns") >= window.begin)
    pl.concat([before, *(_later(rest, window, n) for n in range(window.times))]).write_csv(to / "phases.csv")
    config = json.loads((folder / "config.json").read_text())
    planned = config["transactions"]
    numbered = {f"{phase}-{n}": of for n in range(window.times - 1) for phase, of in planned.items()}
    (to / "config.json").write_text(json.dumps({**config, "transactions": {**numbered, **planned}}))
    stat = pl.read_csv(folder / "device_stat.csv", infer_schema_length=None)
    gauges = ("label", "inflight_reads", "inflight_writes", "in_flight")
    grew = {
        name: (stat[name][-1] - stat[name][0]) * (window.times - 1)
        for name in stat.columns
        if name not in gauges and stat[name].dtype == pl.Int64
    }
    later = pl.col("label") != "begin"
    grown = (pl.when(later).then(pl.col(name) + by).otherwise(name).alias(name) for name, by in grew.items())
    stat.with_columns(grown).write_csv(to / "device_stat.csv")


def _later(table: pl.DataFrame, window: Window, number: int) -> pl.DataFrame:
    """`table` moved in time; its phases are numbered, but for the last repetition's."""
    moved = table.with_columns(pl.col("begin_ns", "end_ns") + number * window.span)
    if number + 1 == window.times or "phase" not in table.columns:
        return moved
    return moved.with_columns(pl.concat_str("phase", pl.lit(f"-{number}")))


def _repeat(path: Path, to: Path, window: Window, key: str) -> None:
    """A table of the driver whose rows are numbered by `key`."""
    table = pl.read_csv(path, infer_schema_length=None)
    with to.open("wb") as file:
        for number in range(window.times):
            moved = _later(table, window, number).with_columns(pl.col(key) + number * table.height)
            _append(moved, file, header=not number)


def _append(table: pl.DataFrame, file: BinaryIO, header: bool) -> None:
    table.write_csv(file, include_header=header)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: scale.py RUN_DIR TO_DIR EVENTS")
    print(scale(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
