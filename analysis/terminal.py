"""The short answer on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_HEAD = ("", "TPS", "p50 ms", "p99 ms", "syncs", "writes", "KiB written", "flushes")


def table(summary: dict[str, Any], report: Path) -> str:
    """Return a run's summary as a table of at most 80 columns, ended by the report's path."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for op, latency in summary["latency_us"].items():
        cost = summary["per_transaction"][op]
        rows.append(
            (
                op,
                _number(summary["tps"][op], 1),
                _number(latency["p50"], 3, 1e-3),
                _number(latency["p99"], 3, 1e-3),
                _number(summary["syncs"][op], 2),
                _number(cost["block_writes"], 2),
                _number(cost["bytes_written"], 1, 1 / 1024),
                _number(cost["flushes"], 2),
            )
        )
    rows.append(("all", _number(summary["tps"]["all"], 1), *[""] * 6))
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = [
        f"{row[0]:<{widths[0]}}  "
        + "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    status = f"{summary['cell_name']}  {summary['run_id']}  {summary['status'].upper()}"
    out = [status, *(f"  rejected: {reason}" for reason in summary["reasons"]), ""]
    out += [line.rstrip() for line in lines]
    amplification = _number(summary["write_amplification"], 2)
    seconds = _number(summary["virtual_seconds"], 3)
    out += [
        "(syncs, writes, KiB and flushes are per transaction)",
        f"write amplification {amplification} of the SQL data; timed region {seconds} s",
        f"report: {report}",
    ]
    return "\n".join(out)


def _number(value: float | None, digits: int, factor: float = 1.0) -> str:
    return "-" if value is None else f"{value * factor:,.{digits}f}"
