"""The ledger's Q2C and D2C of recorded runs are those of blktrace's own btt."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analysis.adapters import blkevents
from analysis.adapters.blkrecords import NOTIFY, read_file
from analysis.inspect import traced
from analysis.run import Run

HERE = Path(__file__).parent
MICROSECOND = 1e-6
# Two tracers take the time of one event one after the other, and btt writes whole microseconds: by this
# a latency is found among its lines, not judged.
SAME_EVENT = 2e-6


def btt(trace: Path, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return (Q2C, D2C), rows of (seconds since the trace's begin, seconds): of each Q when it was
    queued, of each D when it completed."""
    for command in (
        ("blkparse", "-q", "-i", trace.name, "-D", trace.parent, "-d", folder / "merged.bin", "-O"),
        ("btt", "-i", "merged.bin", "-o", "all", "-q", "q2c", "-l", "d2c"),
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return tuple(np.loadtxt(next(folder.glob(f"{name}*.dat"))) for name in ("q2c", "d2c"))  # type: ignore[return-value]


def differences(time: np.ndarray, latency: np.ndarray, told: np.ndarray) -> np.ndarray:
    """Return by how much each latency differs from the nearest that btt tells of an event of its time."""
    apart = np.abs(told[:, 0] - time[:, None])
    return np.where(apart < SAME_EVENT, np.abs(told[:, 1] - latency[:, None]), np.inf).min(axis=1)


@pytest.mark.parametrize("sample", ["sample-f2fs-wal", "../bench/sample"])
def test_latencies_are_btts(sample: str, built_run: Callable[[str], Run], tmp_path: Path) -> None:
    run = built_run(sample)
    assert run.ledger is not None
    trace = next((run.folder / "raw/blktrace").glob("*.blktrace.0"))
    records, _ = read_file(trace)
    begin = int(records["time"][records["action"] & NOTIFY == 0].min())
    # what asked for a flush is another request to blktrace; a bio that was cut, in commands of one queue
    # time, has no Q2C for btt
    ledger = run.ledger.ledger
    data = ledger.filter(pl.col("kind") != "flush", pl.col("queue_ns").is_unique())
    queued, issued, done = (data[name].to_numpy() for name in ("queue_ns", "issue_ns", "complete_ns"))
    q2c, d2c = btt(trace.parent / trace.name.removesuffix(".blktrace.0"), tmp_path)
    assert data.height > 700
    assert differences((queued - begin) / 1e9, (done - queued) / 1e9, q2c).max() < MICROSECOND
    assert differences((done - begin) / 1e9, (done - issued) / 1e9, d2c).max() < MICROSECOND


@pytest.mark.parametrize("fs", ["ext4", "f2fs"])
def test_a_trace_is_matched_as_btt_matches_it(fs: str, tmp_path: Path) -> None:
    """Every latency that btt tells of a whole trace is told here, of a command of the same time."""
    trace = HERE / f"blktrace-{fs}/nullb0"
    rows = blkevents.read([trace.parent / "nullb0.blktrace.0"])
    found = traced.commands(rows).commands.filter(pl.col("kind") != "flush")
    begin = int(rows.rows["time"].min())
    queued, issued, done = (found[name].to_numpy() for name in ("queue_ns", "issue_ns", "end_ns"))
    q2c, d2c = btt(trace, tmp_path)
    # btt 1.3 counts from another time than 1.2, which counts from the first event: the first that was queued
    first = q2c[:, 0].min()
    q2c[:, 0] -= first
    d2c[:, 0] -= first
    assert found.height > 50 and found["queue_ns"].null_count() == found["end_ns"].null_count() == 0
    assert differences((queued - begin) / 1e9, (done - queued) / 1e9, q2c).max() < MICROSECOND
    assert differences((done - begin) / 1e9, (done - issued) / 1e9, d2c).max() < MICROSECOND
