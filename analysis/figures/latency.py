"""Draw the latency distribution (CDF) of a run's transactions, by operation; give its points to a page."""

from pathlib import Path
from typing import Any

import numpy as np

from analysis.figures import style
from analysis.stats.report_tables import Tables
from model import operations

# Points of an operation that a page gets, evenly spread, and those of its slowest transactions.
_SPREAD, _SLOWEST = 1500, 500


def points(tables: Tables) -> list[dict[str, Any]]:
    """Return the points (ms, share) of each operation's line, for a page that can enlarge a part."""
    lines = []
    for op in tables.operations["op"]:
        if not (times := _times(tables, op)).size:
            continue
        some = np.linspace(0, times.size - 1, min(_SPREAD, times.size)).astype(int)
        kept = np.union1d(some, np.arange(max(0, times.size - _SLOWEST), times.size))
        kind = operations.kinds()[operations.kind_name(op)]
        lines.append(
            {
                "op": style.clean(op),
                "color": kind.color,
                "ms": times[kept].round(6).tolist(),
                "share": ((kept + 1) / times.size).round(6).tolist(),
            }
        )
    return lines


def _times(tables: Tables, op: str) -> np.ndarray:
    """Return the latencies of an operation in ms, ascending."""
    of_op = tables.latencies.filter(tables.latencies["op"] == op)
    return np.sort(of_op["latency_ns"].to_numpy()) / 1e6


def render(tables: Tables, path: Path) -> bool:
    """Draw the latency figure to `path`; False if there are no transactions."""
    if tables.transactions.is_empty():
        return False
    made = style.figure(3.0)
    axes = made.subplots()
    style.grid(axes, "both")
    for row in tables.operations.iter_rows(named=True):
        op = row["op"]
        times = _times(tables, op)
        share = np.arange(1, times.size + 1) / times.size
        kind = operations.kinds()[operations.kind_name(op)]
        label = f"{op}: p50 {row['p50_ns'] / 1e6:.3g} ms, p99 {row['p99_ns'] / 1e6:.3g} ms"
        axes.step(
            np.concatenate([times[:1], times]),
            np.concatenate([[0], share]),
            where="post",
            color=kind.color,
            linestyle=kind.line_style,
            linewidth=1.7,
            label=style.clean(label),
        )
        axes.plot(row["p99_ns"] / 1e6, 0.99, "o", color=kind.color, markersize=4)
    low, high = np.nanpercentile(tables.latencies["latency_ns"].to_numpy() / 1e6, [0, 100])
    if low > 0 and high / low > 8:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("latency, ms (dot: 99th percentile)")
    axes.set_ylabel("share of transactions")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3, handlelength=2.4)
    style.save(made, path)
    return True
