"""summary.json of a watched command (docs/reference/formats.md)."""

from __future__ import annotations

from typing import Any

import polars as pl

from analysis.adapters import command
from analysis.adapters.driver import Driver
from analysis.checks import counts, failures, loss
from analysis.checks.ledger import unattributed_share
from analysis.command import transactions
from analysis.command.tables import Tables
from analysis.content import coverage
from analysis.instrument import cpu
from analysis.report.summary import notes, timed_wall_seconds, verdict
from analysis.run import Run
from analysis.stats import report_tables
from base.version import version


def build(run: Run, built: Tables, reasons: list[str]) -> dict[str, Any]:
    """Return the summary. Values that were not recorded are None."""
    watched = "commands" in report_tables.observed(run)
    written = counts.count(counts.window_blocks(run, report_tables.block_source(run)))
    seconds = command_seconds(run.timing)
    return {
        "version": version(),
        **verdict(reasons),
        "load": "command",
        "cell_id": run.cell_id,
        "cell_name": run.name,
        "run_id": run.run_id,
        "raw_held": "raw_sha256" in run.host,
        "clock": run.board.run.get("clock"),
        "command": {
            **run.driver.config["command"],
            "failed": command.failure(run.driver.config),
            **printed(run),
        },
        "timing_source": run.timing_source,
        "cpu_ns": cpu.counted(run.cell, run.timing.config["clock"]),
        "seconds": seconds,
        "watched_seconds": command_seconds(run.driver),
        "drain_seconds": seconds_of(run.timing, "drain"),
        "twin": twin(run),
        "transactions": transactions.summary(run, built),
        "syncs": None if built.syncs is None else built.syncs.to_dicts(),
        "files": None if built.files is None else built.files.to_dicts(),
        "causes": None if built.causes is None else built.causes.to_dicts(),
        "block": {name: written[name] if watched else None for name in (*counts.FIELDS, "fua")},
        "kinds": built.kinds.to_dicts() if watched else None,
        "counted": counts.by_source(run),
        "counters": counters(run),
        "empty_flush_requests": counts.empty_flushes(run),
        "labels": labels(run),
        "unattributed_share": None if run.ledger is None else unattributed_share(run.ledger),
        "content": coverage.summary(run.content),
        "lost_events": loss.lost_events(run),
        "failures": failures.count(run),
        **notes(run),
        "timed_wall_seconds": timed_wall_seconds(run),
        "wall_seconds": run.host.get("wall_seconds"),
    }


def counters(run: Run) -> dict[str, int | None]:
    """Return the growth of the device's kernel counters up to the end of the drain.

    They need no observer. Flushes of a partition are not counted.
    """
    grew = run.driver.stat_difference()
    names = {"reads": "read_ios", "writes": "write_ios", "flushes": "flush_ios"}
    counts = {name: grew.get(field) for name, field in names.items()}
    if run.cell.board != "virtual":
        counts["flushes"] = None
    sectors = grew.get("write_sectors")
    return {**counts, "bytes_written": None if sectors is None else sectors * 512}


def printed(run: Run) -> dict[str, str]:
    """Return the last lines of stdout and stderr."""
    folder, wrote = run.folder / "raw/driver", run.driver.config["command"]
    return {name: command.last_lines(folder, name, wrote[f"{name}_bytes"]) for name in ("stdout", "stderr")}


def seconds_of(ran: Driver, phase: str) -> float | None:
    """Return the duration of a phase on the board's clock; None if there is no such phase."""
    rows = [row for row in ran.phases.iter_rows(named=True) if row["phase"] == phase]
    return (rows[0]["end_ns"] - rows[0]["begin_ns"]) / 1e9 if rows else None


def command_seconds(ran: Driver) -> float | None:
    """Return the duration of the command and all processes that it started."""
    return seconds_of(ran, "command")


def labels(run: Run) -> dict[str, int] | None:
    """Return the bytes written by label; None without a ledger."""
    if run.ledger is None:
        return None
    pairs = run.ledger.pieces.group_by("label").agg(pl.col("bytes").sum()).iter_rows()
    sizes = {str(label): int(size) for label, size in pairs}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def twin(run: Run) -> dict[str, Any] | None:
    """Return the baseline run's counts and duration, and how much longer the watched run took.

    None without a baseline run.
    """
    if run.twin is None:
        return None
    own, other = command_seconds(run.driver), command_seconds(run.twin.driver)
    mine, theirs = run.driver.stat_difference(), run.twin.driver.stat_difference()
    names = ("write_ios", "write_sectors", "flush_ios")
    ends = ("exit_status", "signal")
    return {
        "seconds": other,
        "cost": own / other - 1 if own and other else None,
        "ended_alike": all(
            run.driver.config["command"].get(name) == run.twin.driver.config["command"].get(name)
            for name in ends
        ),
        "run": {name: mine.get(name) for name in names},
        "twin": {name: theirs.get(name) for name in names},
        "same_counts": all(mine.get(name) == theirs.get(name) for name in names),
    }
