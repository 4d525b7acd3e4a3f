"""Build summary.json, a run's results for scripts: verdict, rates, latencies, costs, bytes by label."""

import hashlib
from typing import Any

import polars as pl

from analysis.adapters import device_logs
from analysis.adapters.driver import Driver
from analysis.checks import counts, covariates, disk, loss
from analysis.checks.file_calls import unwritten
from analysis.checks.ledger_consistency import unattributed_share
from analysis.content import coverage
from analysis.crash import verdicts
from analysis.instrument import cpu
from analysis.ledger import sums, tables
from analysis.ledger.build import Ledger
from analysis.report import headline
from analysis.run import Run
from analysis.schemas.ledger import FILES, LABELS
from analysis.stats import overhead, report_tables
from analysis.stats.report_tables import Tables
from analysis.stats.totals import lifetime
from base.version import version
from model import engines
from model.engines import Engine

# Columns that identify a block command, without times.
_COMMAND = ("rwbs", "sector", "sectors")
_LATENCIES = ("p50", "p95", "p99", "max")
_SYNC_LATENCIES = ("p50", "p99", "max")


def build(run: Run, built: Tables, reasons: list[str]) -> dict[str, Any]:
    """Return the summary. A value without meaning (nothing ran, no probe) is None."""
    operations = {row["op"]: row for row in built.operations.iter_rows(named=True)}
    seconds = run.timing.timed_seconds
    written = counts.count(built.commands)
    sql_bytes = run.driver.config["sql_bytes"]
    found = headline.checkpoints(run)
    watched = "commands" in report_tables.observed(run)
    return {
        "version": version(),
        **verdict(reasons),
        "cell_id": run.cell_id,
        "cell_name": run.name,
        "run_id": run.run_id,
        "raw_held": "raw_sha256" in run.host,
        "clock": run.board.run.get("clock"),
        "tps": {
            **{op: row["tps"] for op, row in operations.items()},
            "all": overhead.rate(run.timing),
        },
        **({"mixed": shared} if (shared := report_tables.mixed(run.driver)) else {}),
        **operations_per_transaction(run.driver),
        **({"memory": memory} if (memory := run.timing.config.get("memory")) else {}),
        **({"pace": kept} if (kept := overhead.pacing(run.cell, run.timing)) else {}),
        "timing_source": run.timing_source,
        "cpu_ns": cpu.counted(run.cell, run.timing.config["clock"]),
        "cpu_share": cpu.share(run.ledger),
        "watching_cost": overhead.cost(run),
        "watching_cost_interval": overhead.interval(run),
        "twin_commands": twin_commands(run),
        # None for an operation that the baseline did not run
        "latency_us": {
            op: {name: None if (ns := row[f"{name}_ns"]) is None else ns / 1000 for name in _LATENCIES}
            for op, row in operations.items()
        },
        **({"sync_us": times} if (times := sync_us(built)) else {}),
        **({"slowest": slow} if (slow := headline.slowest(run, found)) else {}),
        **headline.counts(run, found),
        "unchanged": {op: row["unchanged"] for op, row in operations.items()},
        "syncs": {op: row["syncs"] for op, row in operations.items()},
        "block": {
            name: written[name] if watched else None
            for name in ("reads", "writes", "bytes_written", "flushes", "fua")
        },
        "disk": disk.summary(run),
        **({"flash": worn} if (worn := flash(run)) else {}),
        "block_sequence_sha256": sequence_hash(built.commands) if watched else None,
        "per_transaction": {
            op: {name: row[name] for name in ("block_writes", "bytes_written", "flushes", "fua")}
            for op, row in operations.items()
        },
        "ledger": ledger(run.ledger, run.driver.engine),
        **({"persistent": of_memory} if (of_memory := sums.persistent(run.driver)) else {}),
        "content": coverage.summary(run.content),
        "crash": verdicts.summary(run),
        "write_amplification": (written["bytes_written"] / sql_bytes if sql_bytes and watched else None),
        "sql_sha256": run.driver.config["sql_sha256"],
        "lost_events": loss.lost_events(run),
        "failures": counts.count_failures(run),
        "not_checked": not_checked(run),
        **notes(run),
        "virtual_seconds": seconds,
        "timed_wall_seconds": (wall := timed_wall_seconds(run)),
        "virtual_per_wall": seconds / wall if seconds and wall else None,
        "wall_seconds": run.host.get("wall_seconds"),
    }


def sync_us(built: Tables) -> dict[str, dict[str, float]]:
    """Return the number and latencies of the watched run's syncs, by kind of file; {} without any."""
    return {
        row["kind"]: {"count": row["syncs"], **{name: row[f"{name}_ns"] / 1000 for name in _SYNC_LATENCIES}}
        for row in built.sync_times.iter_rows(named=True)
    }


def operations_per_transaction(ran: Driver) -> dict[str, dict[str, float]]:
    """Return the mean number of operations in a transaction, by op and over all; {} if not counted."""
    counted, rows = ran.config.get("operations"), ran.transactions
    if counted is None or rows.is_empty():
        return {}
    groups = rows.group_by("op", maintain_order=True)
    means = {str(op): counted.get(op, 0) / len(table) for (op,), table in groups}
    return {"operations_per_transaction": {**means, "all": sum(counted.values()) / rows.height}}


def flash(run: Run) -> dict[str, Any] | None:
    """Return the programs and erases of the device's flash, and its lifetime; None without flash."""
    reader = device_logs.find_reader(run.cell)
    worn = reader.wear(run.board.device, run.board.device_time) if reader else None
    if worn is None:
        return None
    lasts = lifetime(worn, run.driver.transactions.height, run.cell.profiles["device"])
    return {**worn, **({"lifetime": lasts} if lasts else {})}


def notes(run: Run) -> dict[str, list[str]]:
    """Return the observers' notes on their records; {} without notes."""
    lines = [note for seen in run.seen.values() for note in seen.notes]
    return {"notes": lines} if lines else {}


def not_checked(run: Run) -> list[str]:
    """Return the checks that were impossible because nothing was recorded."""
    unchecked = covariates.unknown(run)
    if run.ledger is not None and run.content is None:
        unchecked.append("whether the bytes written confirm the ledger: they were not kept")
    return unchecked


def verdict(reasons: list[str]) -> dict[str, Any]:
    """Return status and reasons; a single reason rejects the run."""
    printable = ("".join(c if c.isprintable() else "?" for c in reason) for reason in reasons)
    distinct = list(dict.fromkeys(printable))
    return {"status": "rejected" if distinct else "ok", "reasons": distinct}


def timed_wall_seconds(run: Run) -> float | None:
    """Return the seconds of the timed region on the host's clock; None if not measured.

    In real time the board's clock is used.
    """
    if run.board.run.get("clock") == "virtual":
        return run.host.get("timed_seconds")
    return run.timing.timed_seconds


def twin_commands(run: Run) -> dict[str, Any] | None:
    """Compare the command sequence (operation, sector, size) of the baseline with the run's.

    Return None if a device log is missing. A difference is not a fault: observation takes time, which may
    shift work that follows the clock (a journal, the flusher).
    """
    if run.twin is None or run.log is None or run.twin.log is None:
        return None
    commands = run.log.within(*run.driver.window)
    baseline = run.twin.log.within(*run.twin.driver.window)
    alike = device_logs.common_prefix(commands, baseline)
    first = None if alike == commands.size == baseline.size else alike
    return {"run": commands.size, "twin": baseline.size, "same": first is None, "first_difference": first}


def sequence_hash(commands: pl.DataFrame) -> str:
    """Return the SHA-256 of the window's commands (op and flags, sector, size) in order of issue."""
    ordered = commands.sort("begin_ns", maintain_order=True).select(_COMMAND)
    return hashlib.sha256(ordered.write_csv(include_header=False).encode()).hexdigest()


def ledger(made: Ledger | None, engine: Engine) -> dict[str, Any] | None:
    """Return bytes by label and flushes by synced file: of the window, and means per transaction."""
    if made is None:
        return None
    flushed_for = (*(role for role in FILES if role in engines.roles(engine)), "no sync")
    labels = tuple(label for label in LABELS if not engines.label_of_another(label, engine))
    sizes = dict(made.pieces.group_by("label").agg(pl.col("bytes").sum()).rows())
    return {
        "bytes": {label: sizes.get(label, 0) for label in labels},
        "unattributed_share": unattributed_share(made),
        "no_transaction": sums.no_transaction(made),
        "deferred": sums.deferred(made),
        **({"reads": read} if (read := tables.reads_summary(made.reads, made.costs)) else {}),
        "unwritten_bytes": int(unwritten(made)["bytes"].sum()),
        "per_transaction": sums.by_operation(made.costs.select("op", *labels), labels),
        "flushes_per_transaction": sums.by_operation(_flushes(made, flushed_for), flushed_for),
    }


def _flushes(made: Ledger, flushed_for: tuple[str, ...]) -> pl.DataFrame:
    """Return op and, for each transaction, its flushes by the file that was synced."""
    flush = made.ledger.filter(pl.col("kind") == "flush").select("command", "transaction", "sync")
    shared = flush.drop("transaction").join(made.shares, on="command")
    whole = flush.join(made.shares, on="command", how="anti").with_columns(share=pl.lit(1.0))
    files = made.syncs.select("sync", pl.col("file").cast(pl.String))
    each = (
        pl.concat([table.select("transaction", "sync", "share") for table in (whole, shared)])
        .join(files, on="sync", how="left")
        .with_columns(pl.col("file").fill_null("no sync"))
    )
    flushes = [pl.col("share").filter(pl.col("file") == name).sum().alias(name) for name in flushed_for]
    by_transaction = each.group_by("transaction").agg(flushes)
    return (
        made.costs.select("op", "transaction").join(by_transaction, on="transaction", how="left").fill_null(0)
    )
