"""Draw the difference of two runs: bytes by label, time by cause, and the latency of each transaction."""

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from analysis.diff import TIMES, WHOLE, Diff
from analysis.figures import bars, style
from analysis.schemas.ledger import LABELS

TIME_COLORS = {
    "cpu_ns": "#8C8C8C",
    "data_wait_ns": "#0072B2",
    "journal_wait_ns": "#7B6FD0",
    "flush_wait_ns": "#E8C500",
    "other_wait_ns": "#C9CDD1",
}
TIME_NAMES = dict(zip(TIMES, ("CPU", "data", "filesystem journal", "flush", "other waiting"), strict=True))
SIDES = (("#59626c", "."), ("#D55E00", "+"))  # colour and marker of a, of b: distinct in grey


def render(diff: Diff, path: Path) -> None:
    """Draw `diff` to `path`."""
    ops = [op for op in diff.means if op != WHOLE]
    height = 0.5 + 0.5 * len(ops)
    made = style.figure(2 * height + 4.2)
    upper, middle, lower, last = made.subplots(4, 1, height_ratios=[height, height, 1.6, 1.4])
    _bars(upper, diff, ops, LABELS, style.LABELS, 1 / 1024, "KiB written per transaction")
    named = {TIME_NAMES[name]: color for name, color in TIME_COLORS.items()}
    _bars(middle, diff, ops, TIMES, named, 1e-6, "ms per transaction, by what it waited for")
    _latencies(lower, diff)
    _differences(last, diff)
    style.save(made, path)


def _bars(
    axes: Axes,
    diff: Diff,
    ops: list[str],
    metrics: tuple[str, ...],
    colors: dict[str, str],
    factor: float,
    x: str,
) -> None:
    rows = [
        {"op": f"{op}, {diff.names[side]}", "kind": TIME_NAMES.get(name, name), "value": pair[side] * factor}
        for op in ops
        for name in metrics
        for pair in [diff.means[op][name]]
        for side in (0, 1)
    ]
    table = pl.DataFrame(rows).filter(pl.col("value") > 0)
    bars.stacked(axes, table, [f"{op}, {name}" for op in ops for name in diff.names], "value", colors)
    axes.set_xlabel(x)
    if not table.is_empty():
        bars.legend(axes, table, colors)


def _latencies(axes: Axes, diff: Diff) -> None:
    """Draw each transaction's latency in both runs, in order of execution."""
    style.grid(axes, "y")
    for side, name, (color, marker) in zip("ab", diff.names, SIDES, strict=True):
        values = diff.pairs[f"latency_ns_{side}"].to_numpy() / 1e6
        size = 2.2 if marker == "." else 3
        axes.plot(values, marker, color=color, markersize=size, markeredgewidth=0.6, label=style.clean(name))
    _part_operations(axes, diff)
    low = diff.pairs.select(pl.min_horizontal("latency_ns_a", "latency_ns_b").min()).item()
    if low > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.2g}")
        # over more than a decade, minor labels would overlap
        top = diff.pairs.select(pl.max_horizontal("latency_ns_a", "latency_ns_b").max()).item()
        wide = top > 10 * low
        axes.yaxis.set_minor_formatter("" if wide else lambda value, _: f"{value:.2g}")
    axes.set_ylabel("latency, ms")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, markerscale=3)


def _differences(axes: Axes, diff: Diff) -> None:
    """Draw by how much each transaction of b took longer than its counterpart."""
    style.grid(axes, "y")
    longer = (diff.pairs["latency_ns_b"] - diff.pairs["latency_ns_a"]).to_numpy() / 1e6
    axes.vlines(range(longer.size), 0, longer, color=style.INK, linewidth=0.8)
    axes.axhline(0, color=style.INK, linewidth=0.6)
    _part_operations(axes, diff)
    axes.set_xlabel("transaction")
    axes.set_ylabel("b − a, ms")


def _part_operations(axes: Axes, diff: Diff) -> None:
    """Draw a line where one operation's transactions end and another's begin."""
    for at in (diff.pairs["op"] != diff.pairs["op"].shift()).fill_null(False).arg_true():
        style.dotted(axes, at - 0.5)
