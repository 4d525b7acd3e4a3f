"""Write the comparison of two runs: figure, diff.html with typical transactions, diff.json, CSV; print it.

The page has a typical pair of transactions of each operation, aligned block command by block command.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from analysis.diff import TIMES, WHOLE, Diff, compare, comparison_text
from analysis.figures import bars, style
from analysis.inspect.load import Loaded
from analysis.report import html_page, manual
from analysis.run_files.stored import Stored
from analysis.run_files.written_tables import csv
from analysis.schemas.ledger import LABELS
from analysis.stats import spread
from analysis.tree.chain import Node, tree
from base import scratch
from base.text import printable_lines
from model import operations

TIME_COLORS = {
    "cpu_ns": "#8C8C8C",
    "data_wait_ns": "#0072B2",
    "journal_wait_ns": "#7B6FD0",
    "flush_wait_ns": "#E8C500",
    "other_wait_ns": "#C9CDD1",
}
TIME_NAMES = dict(zip(TIMES, ("CPU", "data", "filesystem journal", "flush", "other waiting"), strict=True))
MOST_OF_NAME = 20  # characters: longer ones would take the bars' room
LEGEND = textwrap.TextWrapper(width=110, max_lines=2, placeholder=" …")
SIDES = ((style.INK, "."), ("#D55E00", "+"))  # colour and marker of a, of b: distinct in grey and in the dark


def draw(diff: Diff, path: Path) -> None:
    """Draw `diff` to `path`."""
    ops = [op for op in diff.means if op != WHOLE]
    height = 0.5 + 0.5 * len(ops)
    made = style.figure(2 * height + 4.2)
    upper, middle, lower, last = made.subplots(4, 1, height_ratios=[height, height, 1.6, 1.4])
    _bars(upper, diff, ops, LABELS, style.LABELS, 1 / 1024, "KiB written per transaction")
    named = {TIME_NAMES[name]: color for name, color in TIME_COLORS.items()}
    _bars(middle, diff, ops, TIMES, named, 1e-6, "ms per transaction, by what it waited for")
    _latencies(lower, diff)
    _draw_differences(last, diff)
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
    # the legend of the latencies has longer ones
    names = diff.names if max(map(len, diff.names)) <= MOST_OF_NAME else ("a", "b")
    rows = [
        {"op": f"{op}, {names[side]}", "kind": TIME_NAMES.get(name, name), "value": pair[side] * factor}
        for op in ops
        for name in metrics
        for pair in [diff.means[op][name]]
        for side in (0, 1)
    ]
    table = pl.DataFrame(rows).filter(pl.col("value") > 0)
    bars.stacked(axes, table, [f"{op}, {name}" for op in ops for name in names], "value", colors)
    axes.set_xlabel(x)
    if not table.is_empty():
        bars.legend(axes, table, colors)


def _latencies(axes: Axes, diff: Diff) -> None:
    """Draw each transaction's latency in both runs, in order of execution."""
    style.grid(axes, "y")
    long = max(map(len, diff.names)) > MOST_OF_NAME
    for side, name, (color, marker) in zip("ab", diff.names, SIDES, strict=True):
        values = diff.pairs[f"latency_ns_{side}"].to_numpy() / 1e6
        size = 2.2 if marker == "." else 3
        text = style.clean(name)
        text = LEGEND.fill(f"{side}: {text}") if long else text
        axes.plot(values, marker, color=color, markersize=size, markeredgewidth=0.6, label=text)
    _part_operations(axes, diff)
    low = diff.pairs.select(pl.min_horizontal("latency_ns_a", "latency_ns_b").min()).item()
    if low > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.9g}")
        # minor labels would overlap: of the more values, the fewer
        span = diff.pairs.select(pl.max_horizontal("latency_ns_a", "latency_ns_b").max()).item() / low
        shown = "23456789" if span <= 3 else "235" if span <= 10 else ""
        axes.yaxis.set_minor_formatter(lambda v, _: f"{v:,.9g}" if f"{v:e}"[0] in shown else "")
    axes.set_ylabel("latency, ms")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=1 if long else 2, markerscale=3)


def _draw_differences(axes: Axes, diff: Diff) -> None:
    """Draw by how much each transaction of b took longer than its counterpart, and each operation's mean."""
    style.grid(axes, "y")
    longer = (diff.pairs["latency_ns_b"] - diff.pairs["latency_ns_a"]).to_numpy() / 1e6
    axes.vlines(range(longer.size), 0, longer, color=style.INK, alpha=0.5, linewidth=0.8)
    axes.axhline(0, color=style.INK, linewidth=0.6)
    for (op,), rows in diff.pairs.with_row_index("at").group_by("op", maintain_order=True):
        values = longer[rows["at"]].tolist()
        mean, color = float(np.mean(values)), operations.color(str(op))
        low, high = spread.interval(values) or (mean, mean)
        ends = rows["at"][0] - 0.5, rows["at"][-1] + 0.5
        axes.fill_between(ends, low, high, color=color, alpha=0.4, linewidth=0)
        text = f"{mean:+,.3f}".replace("-", "−") + (f" ± {high - mean:,.3f}" if high > mean else "")
        axes.plot(ends, (mean, mean), color=color, linewidth=1.6, label=f"{style.clean(str(op))}: {text}")
    _part_operations(axes, diff)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=4)
    axes.set_xlabel("transaction")
    axes.set_ylabel("b − a, ms")


def _part_operations(axes: Axes, diff: Diff) -> None:
    """Draw a line where one operation's transactions end and another's begin."""
    for at in (diff.pairs["op"] != diff.pairs["op"].shift()).fill_null(False).arg_true():
        style.dotted(axes, at - 0.5)


@dataclass(frozen=True)
class Pair:
    """The n-th transaction of an operation in both runs. rows: lines of a and b; None: only in the other."""

    op: str
    transactions: tuple[int, int]
    rows: list[tuple[Line | None, Line | None]]


@dataclass(frozen=True)
class Line:
    """A line of a transaction's tree, at a depth."""

    depth: int
    node: Node

    @property
    def kind(self) -> tuple[int, str]:
        """The key for aligning lines of two runs: depth and text without numbers, such as sectors."""
        return self.depth, re.sub(r"\d+", "", self.node.text)


def typical(diff: Diff) -> list[Pair]:
    """Return the pair of each operation that is closest to the medians of both sides' latencies."""
    runs = Loaded(diff.a.folder), Loaded(diff.b.folder)
    pairs = []
    for (op,), rows in diff.pairs.group_by("op", maintain_order=True):
        off = np.zeros(rows.height)
        for side in "ab":
            latency = rows[f"latency_ns_{side}"].to_numpy()
            off += np.abs(latency - np.median(latency)) / max(float(np.median(latency)), 1.0)
        row = rows.row(int(np.argmin(off)), named=True)
        numbers = int(row["transaction_a"]), int(row["transaction_b"])
        a, b = (list(_lines(tree(run, number))) for run, number in zip(runs, numbers, strict=True))
        pairs.append(Pair(str(op), numbers, _aligned(a, b)))
    return pairs


def _lines(node: Node, depth: int = 0) -> Iterator[Line]:
    yield Line(depth, node)
    for child in node.children:
        yield from _lines(child, depth + 1)


def _aligned(a: list[Line], b: list[Line]) -> list[tuple[Line | None, Line | None]]:
    """Return rows of lines of one kind, and of those that one side lacks, in their order."""
    rows: list[tuple[Line | None, Line | None]] = []
    matcher = SequenceMatcher(None, [line.kind for line in a], [line.kind for line in b], autojunk=False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        left, right = a[a_from:a_to], b[b_from:b_to]
        if tag == "equal":
            rows += zip(left, right, strict=True)
        else:
            rows += [*((line, None) for line in left), *((None, line) for line in right)]
    return rows


def write(diff: Diff) -> Path:
    """Write the diff's folder next to the cells' folders, or next to the run, and return the page's path."""
    name = f"{_name(diff.a)}--{_name(diff.b)}"
    folder = manual.above(diff.a.folder, diff.a.summary["cell_name"]) / "diffs" / name
    with scratch.folder(folder.parent, ".diff") as work:
        fresh = work / name
        fresh.mkdir()
        draw(diff, fresh / "diff.svg")
        csv(diff.pairs, fresh / "transactions.csv")
        (fresh / "diff.json").write_text(json.dumps(_json(diff), indent=2) + "\n")
        page = _page(diff, fresh / "diff.svg", folder)
        (fresh / "diff.html").write_text(page, encoding="utf-8", errors="replace")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.replace(folder)
    return folder / "diff.html"


def _name(run: Stored) -> str:
    return f"{run.summary['cell_id']}-{run.summary['run_id']}"


def _json(diff: Diff) -> dict[str, object]:
    return {
        "a": str(diff.a.folder),
        "b": str(diff.b.folder),
        "names": diff.names,
        "forced": diff.forced,
        "durability": diff.durability,
        "profiles": diff.profiles,
        "unpaired": diff.unpaired,
        "words": comparison_text.sentences(diff),
        "means": diff.means,
    }


def _page(diff: Diff, svg: Path, folder: Path) -> str:
    """Return the page. folder: where it will be, from which the runs are linked."""
    template = html_page.environment().get_template("diff/diff.html.j2")
    tables = [
        ("Whole run, totals" if op == WHOLE else f"Per {op}", comparison_text.rows(means))
        for op, means in diff.means.items()
    ]
    return template.render(
        diff=diff,
        sentences=comparison_text.sentences(diff),
        parts=comparison_text.PARTS,
        tables=tables,
        count=diff.pairs.height,
        pairs=typical(diff),
        runs=[os.path.relpath(run.folder.resolve(), folder) for run in (diff.a, diff.b)],
        svg=style.inline(svg, f"{diff.names[1]} against {diff.names[0]}: KiB, times and latencies"),
    )


def main(a: str, b: str, force: bool = False) -> None:
    """Compare two runs and print what differs. FileError if they cannot be compared or read."""
    result = compare(Path(a), Path(b), force)
    report = write(result)
    print(printable_lines([*comparison_text.table(result).split("\n"), "", f"report: {report}"]))
