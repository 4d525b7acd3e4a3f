"""Known answers on a virtual board: syncs per transaction; counts and clocks agree; data journalled twice."""

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import sync_table

from analysis import stages
from analysis.observers import Content, blktrace, probes
from images.cellrun import RunOutput


def test_syncs_per_transaction(on_board: Callable[..., RunOutput], tmp_path: Path) -> None:
    sync_table.check(on_board, tmp_path)


def summary(run: Path) -> dict:
    return json.loads((run / "summary.json").read_text())


def kept(run: Path) -> Content:
    """What was written in the window, as its content was kept."""
    read = stages.build(run)
    return read.contents["content"].within(*read.driver.window)


# Runs that the tests share. The second's seed is another.
RUNS = {
    "f2fs-wal": {"FS": "f2fs", "MODE": "wal"},
    "ext4-ordered-delete": {"FS": "ext4-ordered", "MODE": "delete", "SEED": "2"},
    "ext4-journal-delete": {"FS": "ext4-journal", "MODE": "delete", "SEED": "2"},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_holds(name: str, run_cell: Callable[..., Path]) -> None:
    """Status ok means: counts of probe, blktrace and /sys/block agree, and nothing was lost."""
    run = run_cell(**RUNS[name])
    result = summary(run)
    assert result["status"] == "ok", result["reasons"]
    assert result["block"]["writes"] > 150
    assert (run / "report.html").stat().st_size > 10_000
    written = kept(run)
    assert (written.sectors[written.begin >= 0] * 512).sum() == result["block"]["bytes_written"]
    # where it cannot preload blktrace.so, the loader says so and goes on, slower
    assert "ld.so" not in (run / "raw/blktrace/blktrace.out").read_text()


def test_journalled_data_is_written_twice(run_cell: Callable[..., Path]) -> None:
    ordered, journal = (
        summary(run_cell(**RUNS[f"ext4-{data}-delete"]))["block"]["bytes_written"]
        for data in ("ordered", "journal")
    )
    # measured: docs/explanation/measurement.md
    assert 1.4 < journal / ordered < 2.2


def test_null_makes_no_block_command(run_cell: Callable[..., Path]) -> None:
    result = summary(run_cell(FS="ext4-ordered", WORKLOAD="null"))
    assert result["status"] == "ok", result["reasons"]
    assert result["block"] == {"reads": 0, "writes": 0, "bytes_written": 0, "flushes": 0, "fua": 0}


def test_clocks_agree(run_cell: Callable[..., Path]) -> None:
    """The driver's, the probes' and blktrace's times are one clock.

    The syncs lie within the transactions and the calls of SQLite, and blktrace has each command at
    its time.
    """
    run = run_cell(FS="f2fs", MODE="wal")
    with (run / "raw/driver/transactions.csv").open() as file:
        rows = list(csv.DictReader(file))
    found, _ = probes.read(run / "raw/probes.bin")
    syncs = found.filter((pl.col("event") == "sync") & (pl.col("comm") == "driver"))
    within = [
        sum(int(row["begin_ns"]) < begin and end < int(row["end_ns"]) for row in rows)
        for begin, end in syncs.select("begin_ns", "end_ns").rows()
    ]
    assert sum(within) > len(rows) * 0.9 and max(within) == 1
    with (run / "raw/driver/vfs.csv").open() as file:
        calls = [row for row in csv.DictReader(file) if row["op"] == "sync"]
    # the way from SQLite's call to the filesystem's function: about 800 ns on the board
    ahead = [
        min(begin - at for row in calls if (at := int(row["begin_ns"])) < begin)
        for begin in syncs.filter(~pl.col("is_directory"))["begin_ns"].to_list()
        if begin > int(calls[0]["begin_ns"])
    ]
    assert len(ahead) >= len(calls) and max(ahead) < 20_000 and min(ahead) > 100
    commands = found.filter((pl.col("event") == "block") & (pl.col("dev") == "253:0")).sort("begin_ns")
    traced = blktrace.read(run / "raw/blktrace")
    inside = pl.col("begin_ns").is_between(int(rows[0]["begin_ns"]), int(rows[-1]["end_ns"]))
    ours, theirs = commands.filter(inside)["begin_ns"], traced.filter(inside)["begin_ns"]
    assert len(ours) == len(theirs) > len(rows)
    assert (ours - theirs).abs().max() < 20_000


def test_trace_is_readable_with_blkparse_and_btt(run_cell: Callable[..., Path], tmp_path: Path) -> None:
    """blkparse counts as many completed writes with data as the summary says, and btt takes its file."""
    run = run_cell(FS="f2fs", MODE="wal")
    with (run / "raw/driver/device_stat.csv").open() as file:
        rows = {row["label"]: int(row["time_ns"]) for row in csv.DictReader(file)}
    binary = tmp_path / "trace.bin"
    # %T.%t is relative to the trace's first event, so the window is taken by order of size
    command = [
        "blkparse",
        "-i",
        "target",
        "-D",
        str(run / "raw/blktrace"),
        "-d",
        str(binary),
        "-a",
        "complete",
    ]
    done = subprocess.run([*command, "-f", "%d %n\n", "-q"], capture_output=True, text=True, check=True)
    # a message has no operation and no sectors
    commands = [line.split() for line in done.stdout.splitlines() if len(line.split()) == 2]
    writes = [sectors for operation, sectors in commands if operation.lstrip("F").startswith("W")]
    assert rows["begin"] < rows["end"]
    assert len([sectors for sectors in writes if sectors != "0"]) >= summary(run)["block"]["writes"]
    done = subprocess.run(
        ["btt", "-i", str(binary)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "All Devices" in done.stdout
