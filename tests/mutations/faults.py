"""Faults of instruments. Each changes a recorded run at places drawn from a generator.

A fault is a function. Its name is a value of KIND, its docstring a row of the table.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from recording import AbsentError, Recording

Fault = Callable[[Recording, np.random.Generator], None]
FAULTS: dict[str, Fault] = {}
MS = 1_000_000


def fault(function: Fault) -> Fault:
    """Add a fault to the table."""
    FAULTS[function.__name__] = function
    return function


def description(name: str) -> str:
    """Return what a fault does, in words."""
    return (FAULTS[name].__doc__ or "").splitlines()[0].rstrip(".")


def _some(draw: np.random.Generator, places: np.ndarray) -> np.ndarray:
    """Return one of the places, a tenth or half of them, in their order."""
    if not places.size:
        raise AbsentError("no such record")
    count = max(1, int(places.size * draw.choice([0.0, 0.1, 0.5])))
    return np.sort(draw.choice(places, count, replace=False))


def _any_type(run: Recording, draw: np.random.Generator) -> np.ndarray:
    """Return the indices of all records of one type."""
    kinds = run.records["type"]
    return np.flatnonzero(kinds == draw.choice(np.unique(kinds)))


@fault
def lost_records(run: Recording, draw: np.random.Generator) -> None:
    """the ring of the probes overflows: records that follow each other are lost"""
    size = run.records.size
    count = max(1, int(size * draw.choice([0.0, 0.01, 0.1, 0.5])))
    first = int(draw.integers(0, size - count + 1))
    run.records = np.delete(run.records, np.arange(first, first + count))


@fault
def probe_not_attached(run: Recording, draw: np.random.Generator) -> None:
    """a probe is not attached: records of one type are missing"""
    run.records = np.delete(run.records, _any_type(run, draw))


@fault
def doubled_records(run: Recording, draw: np.random.Generator) -> None:
    """records of one type are in the file twice"""
    places = _some(draw, _any_type(run, draw))
    run.records = np.insert(run.records, places, run.records[places])


@fault
def late_completions(run: Recording, draw: np.random.Generator) -> None:
    """commands are recorded as completed 0.2 to 20 ms late"""
    places = _some(draw, run.places("block"))
    run.records["end_ns"][places] += np.uint64(draw.choice([0.2, 2, 20]) * MS)


@fault
def reordered_completions(run: Recording, draw: np.random.Generator) -> None:
    """neighbouring commands are recorded with each other's completion"""
    places = run.places("block")
    first = _some(draw, np.arange(places.size // 2)) * 2
    one, other = places[first], places[first + 1]
    ends = run.records["end_ns"].copy()
    run.records["end_ns"][one], run.records["end_ns"][other] = ends[other], ends[one]


@fault
def late_clock(run: Recording, draw: np.random.Generator) -> None:
    """the clock of one observer is 0.2 to 20 ms late"""
    by = int(draw.choice([0.2, 2, 20]) * MS)
    has_log = (run.raw / "device.bin").exists()
    match draw.choice(["probes", "content", *(["device"] if has_log else [])]):
        case "probes":
            for field in ("begin_ns", "end_ns"):
                run.records[field] += np.uint64(by)
        case "content":
            run.change_content(lambda records: _later(records, by, "time_ns"))
        case "device":
            run.change_log(lambda entries: _later(entries, by, "begin_ns", "end_ns"))


def _later(rows: np.ndarray, by: int, *fields: str) -> np.ndarray:
    for field in fields:
        rows[field] += np.uint64(by)
    return rows


@fault
def clock_pace(run: Recording, draw: np.random.Generator) -> None:
    """the driver's clock runs at another pace, in the run or in its baseline run"""
    pace = float(draw.choice([0.5, 0.9, 1.1, 2]))
    side = run if draw.integers(2) else Recording(run.folder / "twin", [])
    zero = pl.read_csv(side.raw / "driver/phases.csv")["begin_ns"][0]

    def change(table: pl.DataFrame) -> pl.DataFrame:
        times = [column for column in ("begin_ns", "end_ns", "time_ns") if column in table.columns]
        return table.with_columns(((pl.col(times) - zero) * pace).cast(pl.Int64) + zero)

    for path in sorted((side.raw / "driver").glob("*.csv")):
        side.change_table(path.name, change)


@fault
def wrong_counter(run: Recording, draw: np.random.Generator) -> None:
    """a counter of the device counts another number"""
    field = str(draw.choice(["read_ios", "write_ios", "write_sectors", "flush_ios"]))
    more = pl.when(pl.col("label") == "end").then(int(draw.integers(1, 100))).otherwise(0)
    run.change_table("device_stat.csv", lambda table: table.with_columns(pl.col(field) + more))


@fault
def lost_content(run: Recording, draw: np.random.Generator) -> None:
    """the file of written bytes lost commands"""
    run.change_content(lambda records: np.delete(records, _some(draw, np.arange(records.size))))


@fault
def wrong_inode(run: Recording, draw: np.random.Generator) -> None:
    """pages or syncs of files are recorded with another file's inode"""
    places = draw.choice(["sync", "pages"])
    rows = run.places("sync") if places == "sync" else run.file_pages()
    inodes = np.unique(run.records["a"][rows])
    if inodes.size < 2:
        raise AbsentError("two files")
    one, other = draw.choice(inodes, 2, replace=False)
    run.records["a"][_some(draw, rows[run.records["a"][rows] == one])] = other


@fault
def setting_not_taken(run: Recording, draw: np.random.Generator) -> None:
    """a setting of the engine or the device is read back with another value"""
    if draw.integers(2):
        run.change_document("driver/config.json", lambda config: _double(config["effective"], draw))
        return
    asked = (run.folder / "cell.json").read_text()
    path = run.raw / "board/device.txt"
    lines = path.read_text().splitlines()
    lines[draw.choice([i for i, line in enumerate(lines) if f'"{line.split("=")[0]}":' in asked])] += "1"
    path.write_text("\n".join(lines) + "\n")


def _double(settings: dict[str, Any], draw: np.random.Generator) -> None:
    name = str(draw.choice(sorted(settings)))
    settings[name] = settings[name] * 2 if isinstance(settings[name], int) else "off"


@fault
def another_cell(run: Recording, draw: np.random.Generator) -> None:
    """the board ran another cell"""
    run.replace_by(_other(run, draw))


@fault
def stale_file(run: Recording, draw: np.random.Generator) -> None:
    """a file is of another run: of another cell's, or the baseline run's"""
    other = _other(run, draw) if draw.integers(2) else run.folder / "twin"
    raw = other / "raw"
    both = [name for name in run.files() if (raw / name).exists()]
    differ = [name for name in both if (raw / name).read_bytes() != (run.raw / name).read_bytes()]
    name = str(draw.choice(differ))
    shutil.copy(raw / name, run.raw / name)


def _other(run: Recording, draw: np.random.Generator) -> Path:
    return run.others[int(draw.integers(len(run.others)))]


@fault
def truncated_file(run: Recording, draw: np.random.Generator) -> None:
    """a file ends early"""
    path = run.raw / str(draw.choice(run.files()))
    data = path.read_bytes()
    path.write_bytes(data[: int(draw.integers(len(data)))])


@fault
def damaged_file(run: Recording, draw: np.random.Generator) -> None:
    """a bit of a stored file flips"""
    path = run.raw / str(draw.choice(run.files()))
    data = bytearray(path.read_bytes())
    data[int(draw.integers(len(data)))] ^= 1 << int(draw.integers(8))
    path.write_bytes(data)
    run.hashed = False
