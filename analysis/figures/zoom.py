"""Draw typical transactions of each operation on a time axis: SQL, syncs, filesystem and block commands."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from analysis.figures import style
from analysis.schemas.events import file_kind
from analysis.stats.report_tables import Tables
from model import operations

_TRANSACTIONS = 3
_LANES = {"SQL": 0.62, "sync": 0.62, "filesystem": 0.62, "device": 1.25}  # heights
# The kind of events (tables.OBSERVED) in each lane.
_SEEN = {"sync": "syncs", "filesystem": "filesystem", "device": "commands"}
_GAP = 0.16
_FS = {  # event -> label and short label
    "flush": ("flush call", "flush"),
    "commit": ("journal commit", "commit"),
    "checkpoint": ("checkpoint", "cp"),
    "writeback": ("writeback", "wb"),
}
_SHORT = {"database": "db", "journal": "jrnl", "directory": "dir"}
_POINTS = 600  # width of the axes in points
_POINTS_PER_HEIGHT = 35  # height of a lane of height 1
_THINNEST = 1 / 400  # of the axis: width of events that take no time
_LETTER = 4.6  # width of a letter


class _Bar(NamedTuple):
    """One bar of a lane: start and stop in ms, and labels, longest first."""

    start: float
    stop: float
    color: str
    labels: tuple[str, ...]


def render(tables: Tables, path: Path) -> bool:
    """Draw the zoom figure to `path`; False if there are no transactions."""
    ops = tables.operations["op"].to_list()
    if not ops:
        return False
    chosen = [choose(tables.transactions.filter(pl.col("op") == op)) for op in ops]
    made = style.figure(0.55 + 2.05 * len(ops))
    column = made.subplots(len(ops), 1, squeeze=False)[:, 0]
    colors: dict[str, str] = {}
    for axes, rows in zip(column, chosen, strict=True):
        colors.update(_panel(axes, tables, rows))
    column[-1].set_xlabel("milliseconds since the first of these transactions began")
    all_colors = {**style.FILES, **style.BLOCKS}
    handles = [Patch(color=c, label=k) for k, c in all_colors.items() if colors.get(k) == c]
    if handles:
        made.legend(handles=handles, loc="outside upper left", ncols=9, columnspacing=1.2)
    style.save(made, path)
    return True


def choose(rows: pl.DataFrame) -> pl.DataFrame:
    """Return consecutive transactions with latencies close to the median, near the middle of the run."""
    count = min(_TRANSACTIONS, rows.height)
    latency = rows["latency_ns"].to_numpy().astype(float)
    typical = max(float(np.median(latency)), 1.0)
    off = np.abs(latency - typical) / typical
    total = np.convolve(off, np.ones(count), mode="valid")
    middle = np.abs(np.arange(total.size) - total.size / 2) / max(total.size, 1)
    return rows.slice(int(np.argmin(np.round(total, 2) + 0.05 * middle)), count)


def _panel(axes: Axes, tables: Tables, rows: pl.DataFrame) -> dict[str, str]:
    """Draw the lanes of one operation; return the colours used, by kind."""
    begin, end = rows["begin_ns"][0], rows["end_ns"][-1]
    span = max((end - begin) / 1e6, 1e-6)
    seen = tables.events.filter((pl.col("begin_ns") < end) & (pl.col("end_ns") > begin))
    blocks = tables.commands.filter((pl.col("begin_ns") < end) & (pl.col("end_ns") > begin))
    databases = _databases(tables)
    used: dict[str, str] = {}
    lanes: dict[str, list[_Bar]] = {name: [] for name in _LANES}

    def add(lane: str, row: dict[str, Any], color: str, *labels: str) -> None:
        start, stop = ((row[edge] - begin) / 1e6 for edge in ("begin_ns", "end_ns"))
        lanes[lane].append(_Bar(start, stop, color, tuple(map(style.clean, labels))))

    for row in rows.iter_rows(named=True):
        took = row["latency_ns"] / 1e6
        label = f"{row['op']} {row['transaction']}: {took:.4g} ms"
        add("SQL", row, operations.color(row["op"]), label, f"{took:.3g} ms")
    for row in seen.filter(pl.col("source") == "probe").iter_rows(named=True):
        if row["event"] == "sync":
            kind = file_kind(row["file"], row["is_directory"], databases)
            used[kind] = style.FILES[kind]
            add("sync", row, style.FILES[kind], kind, _SHORT.get(kind, kind))
        elif row["event"] in _FS:
            add("filesystem", row, style.FS, *_FS[row["event"]])
    for row in blocks.iter_rows(named=True):
        kind = row["kind"]
        used[kind] = style.BLOCKS[kind]
        size = f"{row['sectors'] / 2:g}K"
        label = "flush" if kind == "flush" else f"{row['rwbs']} {size}"
        add("device", row, style.BLOCKS[kind], label)
    watched = dict(tables.observed.iter_rows())
    empty = {lane: "nothing" if watched.get(_SEEN.get(lane), True) else "not watched" for lane in lanes}
    _draw(axes, lanes, empty, span)
    for edge in [*rows["begin_ns"].to_list(), end]:
        style.dotted(axes, (edge - begin) / 1e6, zorder=0)
    return used


def _databases(tables: Tables) -> set[str]:
    """Return the base names of the databases: the synced files that others are named after."""
    names = tables.events.filter(pl.col("event") == "sync")["file"].unique().drop_nulls()
    named = {
        name.removesuffix(f"-{kind}")
        for name in map(str, names.to_list())
        for kind in style.FILES
        if name.endswith(f"-{kind}")
    }
    synced = tables.events.filter((pl.col("event") == "sync") & ~pl.col("is_directory"))["file"]
    return named or set(map(str, synced[:1]))


def _draw(axes: Axes, lanes: dict[str, list[_Bar]], empty: dict[str, str], span: float) -> None:
    """Draw the lanes from top to bottom; bars that overlap in time share a lane's height.

    empty: text of each empty lane.
    """
    axes.patch.set_visible(False)
    ticks, y = [], 0.0
    # by z-order: bars in their true width, and in front of them bars widened to be visible
    drawn: dict[int, list[tuple[np.ndarray, str]]] = {1: [], 3: []}
    for lane, height in _LANES.items():
        ticks.append(y + height / 2)
        axes.axhspan(y, y + height, color=style.INK, alpha=0.045, linewidth=0)
        rows = _stack(lanes[lane])
        part = height / (len(set(rows)) or 1)
        for bar, row in zip(lanes[lane], rows, strict=True):
            top = y + row * part
            width = max(bar.stop - bar.start, span * _THINNEST)
            left, right, bottom = bar.start, bar.start + width, top + part * 0.96
            rectangle = np.array([(left, top), (left, bottom), (right, bottom), (right, top)])
            drawn[3 if width > bar.stop - bar.start else 1].append((rectangle, bar.color))
            _label(axes, bar, top, part, span)
        if not lanes[lane]:
            look = {"alpha": 0.6, "fontsize": 8, "fontstyle": "italic"}
            style.centered(axes, span / 2, y + height / 2, empty[lane], **look)
        y += height + _GAP
    for zorder, rectangles in drawn.items():
        corners, colors = [corners for corners, _ in rectangles], [color for _, color in rectangles]
        patches = PolyCollection(
            corners, facecolors=colors, edgecolors="white", linewidths=0.4, zorder=zorder
        )
        axes.add_collection(patches, autolim=False)
    axes.set_yticks(ticks, list(_LANES))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(y - _GAP + 0.03, -0.03)
    axes.set_xlim(-span * 0.002, span * 1.002)


def _stack(lane: list[_Bar]) -> list[int]:
    """Return for each bar the first row where it overlaps no earlier bar."""
    free: list[float] = []
    rows = []
    for bar in lane:
        row = next((i for i, end in enumerate(free) if end <= bar.start + 1e-9), len(free))
        free[row : row + 1] = [bar.stop]
        rows.append(row)
    return rows


def _label(axes: Axes, bar: _Bar, top: float, height: float, span: float) -> None:
    """Write the longest label that fits into a bar, horizontally or vertically."""
    start, stop = max(bar.start, 0), min(bar.stop, span)
    room, tall = (stop - start) / span * _POINTS, height * _POINTS_PER_HEIGHT
    if tall < 8:
        return
    along = next((text for text in bar.labels if len(text) * _LETTER < room), None)
    upright = next((text for text in bar.labels if len(text) * _LETTER * 0.94 < tall), None)
    text = along or (upright if room > 8 else None)
    if text is None:
        return
    look = {"rotation": 0, "fontsize": 8} if along else {"rotation": 90, "fontsize": 7.5}
    x, y = (start + stop) / 2, top + height * 0.48
    style.centered(axes, x, y, text, color=style.ink_on(bar.color), clip_on=True, **look)
