"""Recorded runs hold; with times, calls or results that were not so they are rejected.

The runs are ext4 in DELETE mode (bench/sample), and WAL on F2FS (null_blk) and on ext4 (flashsim).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from edited import Rows, table
from test_refuted_ledger import records

from analysis import audit, checks, stages
from analysis.adapters.proberecords import TYPES
from analysis.checks import phases
from analysis.report import summary, terminal
from analysis.stats import report_tables

DELETE, F2FS, FLASH = "../bench/sample", "sample-f2fs-wal", "sample-flash-wal"


def every_second_boundary(rows: Rows) -> None:
    """A tenth of every second transaction becomes the next one's."""
    for one, other in zip(rows[::2], rows[1::2], strict=False):
        if one["phase"] == other["phase"]:
            moved = (one["end_ns"] - one["begin_ns"]) // 10
            one["end_ns"] -= moved
            other["begin_ns"] -= moved


def halved(rows: Rows) -> None:
    for row in rows:
        row |= {key: value // 2 for key, value in row.items() if key.endswith("_ns")}


def roles_exchanged(rows: Rows) -> None:
    other = {"wal": "database", "journal": "database"}
    other |= {"database": "journal" if any(row["file"] == "journal" for row in rows) else "wal"}
    for row in rows:
        row["file"] = other.get(row["file"], row["file"])


def transactions(folder: Path) -> None:
    table(folder / "raw/driver/transactions.csv", every_second_boundary)


def twin_clock(folder: Path) -> None:
    for name in ("transactions", "phases", "device_stat"):
        table(folder / f"twin/raw/driver/{name}.csv", halved)


def exchanged(folder: Path) -> None:
    table(folder / "raw/driver/vfs.csv", roles_exchanged)


def no_sync_worked(folder: Path) -> None:
    """Every fsync returns -EIO."""

    def change(rows: np.ndarray) -> np.ndarray:
        rows["n"][rows["type"] == TYPES["sync"]] = 2**32 - 5
        return rows

    records(change)(folder)


def early_counters(folder: Path) -> None:
    def change(rows: Rows) -> None:
        rows[2]["time_ns"] -= 1_000_000

    table(folder / "raw/driver/device_stat.csv", change)


def baseline_slower(folder: Path) -> None:
    """By a tenth."""
    zero = stages.build(folder).twin.driver.workload_phases["begin_ns"][0]  # type: ignore[union-attr]

    def change(rows: Rows) -> None:
        for row in rows:
            for name in row.keys() & {"begin_ns", "end_ns", "time_ns"}:
                row[name] += max(row[name] - zero, 0) // 10

    for name in ("transactions", "phases", "device_stat"):
        table(folder / f"twin/raw/driver/{name}.csv", change)


FAULTS: list[tuple[Callable[[Path], None], str, str]] = [
    (transactions, "calls", FLASH),
    (exchanged, "have calls in an order that SQLite does not use", FLASH),
    (twin_clock, "took", F2FS),
    (baseline_slower, "in the baseline run", FLASH),
    (no_sync_worked, "syncs failed", F2FS),
    (early_counters, "was read", DELETE),
]


@pytest.mark.parametrize(("spoil", "reason", "sample"), FAULTS)
def test_a_fault_rejects(
    spoil: Callable[[Path], None], reason: str, sample: str, copy_run: Callable[[str], Path]
) -> None:
    folder = copy_run(sample)
    spoil(folder)
    run = stages.build(folder)
    found = checks.reasons(run) + audit.reasons(run)
    assert any(reason in one for one in found), found


def counted_by_the_scheduler(folder: Path) -> None:
    """Add what the driver of now says: what the scheduler counted, here by the probes' own records."""
    away = stages.build(folder).ledger.few["off_cpu"]  # type: ignore[union-attr]
    begins, ends = (away[name].astype(np.int64) for name in ("begin_ns", "end_ns"))

    def change(rows: Rows) -> None:
        for row in rows:
            inside = (begins >= row["begin_ns"]) & (begins < row["end_ns"])
            off = int((np.minimum(ends, row["end_ns"]) - begins)[inside].sum())
            took = row["end_ns"] - row["begin_ns"]
            row |= {"cpu_ns": took - off, "waited": int(inside.sum()), "preempted": 0}

    table(folder / "raw/driver/phases.csv", change)


def test_more_time_on_the_cpu_than_there_was_rejects(copy_run: Callable[[str], Path]) -> None:
    folder = copy_run(DELETE)
    counted_by_the_scheduler(folder)
    assert phases.on_the_cpu(stages.build(folder)) == []

    def change(rows: Rows) -> None:
        rows[1]["cpu_ns"] = rows[1]["end_ns"] - rows[1]["begin_ns"] + 200_000

    table(folder / "raw/driver/phases.csv", change)
    (said,) = phases.on_the_cpu(stages.build(folder))
    assert "but the driver was on the CPU for" in said


@pytest.mark.parametrize(("sample", "kept"), [(DELETE, 0), (F2FS, 2)])
def test_dropped_off_cpu_records_reject(sample: str, kept: int, copy_run: Callable[[str], Path]) -> None:
    """All of them, and every second one."""
    folder = copy_run(sample)
    counted_by_the_scheduler(folder)
    assert phases.cpu_time(stages.build(folder)) == []

    def change(rows: np.ndarray) -> np.ndarray:
        away = np.flatnonzero(rows["type"] == TYPES["off_cpu"])
        return np.delete(rows, away[::kept] if kept else away)

    records(change)(folder)
    assert any("the scheduler counted" in reason for reason in phases.cpu_time(stages.build(folder)))


def test_a_switch_beside_a_phase_may_be_of_it(copy_run: Callable[[str], Path]) -> None:
    """The scheduler's counts are read a moment before a phase begins, and behind its end: who was put off the
    CPU there is counted, and longer before is not."""
    folder = copy_run(FLASH)
    counted_by_the_scheduler(folder)

    def count(rows: Rows) -> None:
        rows[2]["preempted"] += 1

    table(folder / "raw/driver/phases.csv", count)
    run = stages.build(folder)
    assert any("the scheduler counted" in reason for reason in phases.cpu_time(run))
    phase, recorded = run.driver.phases.row(2, named=True), (folder / "raw/probes.bin").read_bytes()
    for begin, holds in (
        (phase["begin_ns"] - 11_500, True),
        (phase["end_ns"] + 1_500, True),
        (phase["begin_ns"] - 40_000, False),
    ):

        def change(rows: np.ndarray, begin: int = begin) -> np.ndarray:
            switch = rows[rows["type"] == TYPES["off_cpu"]][:1].copy()
            switch["begin_ns"], switch["end_ns"] = begin, begin + 10_000
            return np.concatenate([rows[:-1], switch, rows[-1:]])

        (folder / "raw/probes.bin").write_bytes(recorded)
        records(change)(folder)
        assert (phases.cpu_time(stages.build(folder)) == []) is holds


def test_a_failed_call_rejects_and_is_told(copy_run: Callable[[str], Path]) -> None:
    folder = copy_run(FLASH)

    def change(rows: Rows) -> None:
        for row in rows:
            row["result"] = 1034 if row["call"] == 7 else 0  # SQLITE_IOERR_FSYNC

    table(folder / "raw/driver/vfs.csv", change)
    run = stages.build(folder)
    found = checks.reasons(run)
    assert any("1 calls of SQLite failed: first call 7" in reason for reason in found), found
    told = summary.build(run, report_tables.build(run), found)
    assert told["failures"] == {"syncs": 0, "calls": 1, "commands": 0}
    assert terminal.faults(told)[0] == "ended with an error: 1 calls"
