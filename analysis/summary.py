"""summary.json: the stable interface for scripts (docs/formats.md)."""

from __future__ import annotations

import hashlib
from typing import Any

import polars as pl

from analysis.checks import counts, loss
from analysis.run import Run
from analysis.tables import Tables

# What a block command is, without its times.
_COMMAND = ("rwbs", "sector", "sectors")
_LATENCIES = ("p50", "p95", "p99", "max")


def build(run: Run, tables: Tables, reasons: list[str]) -> dict[str, Any]:
    """Return the summary. A value that has no meaning (nothing ran, no probe) is None."""
    operations = {row["op"]: row for row in tables.operations.iter_rows(named=True)}
    timed = run.driver.timed
    seconds = (timed[1] - timed[0]) / 1e9 if timed else None
    written = counts.count(tables.commands)
    number = run.driver.transactions.height
    sql_bytes = run.driver.config["sql_bytes"]
    watched = bool(run.probes)
    return {
        "status": "rejected" if reasons else "ok",
        "reasons": reasons,
        "cell_id": run.cell_id,
        "cell_name": run.name,
        "run_id": run.run_id,
        "clock": run.board.run.get("clock"),
        "tps": {
            **{op: row["tps"] for op, row in operations.items()},
            "all": number / seconds if seconds else None,
        },
        "latency_us": {
            op: {name: row[f"{name}_ns"] / 1000 for name in _LATENCIES} for op, row in operations.items()
        },
        "syncs": {
            op: row["syncs"] if "sync" in run.probes or "all" in run.probes else None
            for op, row in operations.items()
        },
        "block": {
            name: written[name] if watched else None
            for name in ("reads", "writes", "bytes_written", "flushes", "fua")
        },
        "block_sequence_sha256": sequence_hash(tables.commands) if watched else None,
        "per_transaction": {
            op: {
                name: row[name] if watched else None for name in ("block_writes", "bytes_written", "flushes")
            }
            for op, row in operations.items()
        },
        "write_amplification": (written["bytes_written"] / sql_bytes if sql_bytes and watched else None),
        "sql_sha256": run.driver.config["sql_sha256"],
        "lost_events": loss.lost_events(run),
        "virtual_seconds": seconds,
        "wall_seconds": run.host.get("wall_seconds"),
    }


def sequence_hash(commands: pl.DataFrame) -> str:
    """SHA-256 of the window's commands (op and flags, sector, size) in the order of their issue."""
    ordered = commands.sort("begin_ns", maintain_order=True).select(_COMMAND)
    return hashlib.sha256(ordered.write_csv(include_header=False).encode()).hexdigest()
