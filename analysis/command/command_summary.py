"""Build summary.json of a watched command (`make watch`): duration, syncs, bytes and baseline."""

from typing import Any

import polars as pl

from analysis.adapters import driver
from analysis.adapters.driver import Driver
from analysis.checks import counts, loss
from analysis.checks.ledger_consistency import unattributed_share
from analysis.command import transactions
from analysis.command.command_tables import Tables
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
    seconds = seconds_of(run.timing, "command")
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
            "failed": driver.failure(run.driver.config),
            **printed(run),
        },
        "timing_source": run.timing_source,
        "cpu_ns": cpu.counted(run.cell, run.timing.config["clock"]),
        "seconds": seconds,
        "watched_seconds": seconds_of(run.driver, "command"),
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
        "failures": counts.count_failures(run),
        **notes(run),
        "timed_wall_seconds": timed_wall_seconds(run),
        "wall_seconds": run.host.get("wall_seconds"),
    }


def counters(run: Run) -> dict[str, int | None]:
    """Return the growth of the device's kernel counters up to the end of the drain.

    They need no observer. Flushes of a partition are not counted.
    """
    grew = run.driver.stat_difference()
    sectors = grew.get("write_sectors")
    return {
        "reads": grew.get("read_ios"),
        "writes": grew.get("write_ios"),
        "flushes": grew.get("flush_ios") if run.cell.board == "virtual" else None,
        "bytes_written": None if sectors is None else sectors * 512,
    }


def printed(run: Run) -> dict[str, str]:
    """Return the last lines of stdout and stderr."""
    folder, wrote = run.folder / "raw/driver", run.driver.config["command"]
    return {name: driver.last_lines(folder, name, wrote[f"{name}_bytes"]) for name in ("stdout", "stderr")}


def seconds_of(ran: Driver, phase: str) -> float | None:
    """Return the seconds of a phase, of all processes, on the board's clock; None without that phase."""
    rows = ran.phases.filter(pl.col("phase") == phase)
    return float(rows["end_ns"][0] - rows["begin_ns"][0]) / 1e9 if rows.height else None


def labels(run: Run) -> dict[str, int] | None:
    """Return the bytes written by label; None without a ledger."""
    if run.ledger is None:
        return None
    sizes = run.ledger.pieces.group_by("label", maintain_order=True).agg(pl.col("bytes").sum())
    return {
        str(label): int(size)
        for label, size in sizes.sort("bytes", descending=True, maintain_order=True).iter_rows()
    }


def twin(run: Run) -> dict[str, Any] | None:
    """Return the baseline run's counts and duration, and how much longer the watched run took.

    None without a baseline run.
    """
    if run.twin is None:
        return None
    loads = (run.driver, run.twin.driver)
    watched, unwatched = (seconds_of(load, "command") for load in loads)
    counts, baseline = (
        {name: load.stat_difference().get(name) for name in ("write_ios", "write_sectors", "flush_ios")}
        for load in loads
    )
    ends = [[load.config["command"].get(name) for name in ("exit_status", "signal")] for load in loads]
    return {
        "seconds": unwatched,
        "cost": watched / unwatched - 1 if watched and unwatched else None,
        "ended_alike": ends[0] == ends[1],
        "run": counts,
        "twin": baseline,
        "same_counts": counts == baseline,
    }
