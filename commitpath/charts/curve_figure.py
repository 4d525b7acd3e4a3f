"""`make calibrate DEVICE=… CURVES=yes`: plot a device model with published numbers; print the ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from base import scratch
from base.errors import BadInputError
from base.paths import RESULTS
from base.text import printable_lines
from commitpath.cells.axes import axes as cell_axes
from commitpath.charts.files import save
from commitpath.run.curves import CURVES, compute, fitted_host_time, host_time, of_source, source_notes
from images.flash_model import DRIVER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from model.cell import Cell

Points = Mapping[str, Sequence[tuple[float, float]]]


def curve_of(source: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the curve and x of a source, or None if it is not a point of one."""
    side, _, depth = source["measure"].partition("_random_4k_qd")
    if depth:
        return f"{side}_depth", float(depth)
    return (source["measure"], source["at"]) if "at" in source else None


def in_unit(source: Mapping[str, Any], unit: str, kib: float, depth: float) -> float:
    """Return a source's number of commands of KIB at a depth in the unit of its curve."""
    value, size = float(source["value"]), kib * 1024 / 1e6
    iops = {"us": 1e6 * depth / value, "MB/s": value / size, "IOPS": value}[source["unit"]]
    return {"us": 1e6 * depth / iops, "MB/s": iops * size, "IOPS": iops}[unit]


def published(profile: Mapping[str, Any], name: str) -> list[tuple[float, float]]:
    """Return the sources' points of a curve, in its unit."""
    curve = CURVES[name]
    return [
        (x, in_unit(source, curve.unit, curve.kib or x, x if name.endswith("_depth") else 1))
        for source in profile["sources"]
        for place, x in [curve_of(source) or ("", 0.0)]
        if place == name
    ]


def draw(profile: Mapping[str, Any], points: Points, title: str) -> Figure:
    """Draw a panel for each curve: the model as a line, the sources as diamonds."""
    from analysis.figures import style  # loads matplotlib, which takes a second

    across = 3
    made = style.figure(2.2 * math.ceil(len(points) / across))
    grid = list(made.subplots(math.ceil(len(points) / across), across, squeeze=False).flat)
    for axes, (name, line) in zip(grid, points.items(), strict=False):
        panel(axes, name, line, published(profile, name))
    for axes in grid[len(points) :]:
        axes.set_visible(False)
    made.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
    return made


def panel(
    axes: Axes, name: str, line: Sequence[tuple[float, float]], points: Sequence[tuple[float, float]]
) -> None:
    """Draw one curve."""
    from analysis.figures import style
    from commitpath.charts import frame

    curve, color = CURVES[name], style.BLOCKS["read" if name.startswith("read") else "write FUA"]
    axes.plot(*zip(*line, strict=True), "o-", color=color, markersize=3)
    if points:
        axes.plot(*zip(*points, strict=True), "D", color=style.INK, mfc="none", ms=6, clip_on=False)
    style.grid(axes, "y")
    axes.set_title(curve.title, fontsize=8.5)
    axes.set_xlabel(curve.x)
    axes.set_ylabel(curve.unit)
    if curve.points[-1] > curve.points[0] + 20:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    values = [y for _, y in (*line, *points)]
    frame.metric_axis(axes.yaxis, "log" if max(values) > 8 * min(values) else "linear")


def compared(profile: Mapping[str, Any], host_ns: int) -> Iterator[tuple[str, float, float, str]]:
    """Yield (measure, published, computed, unit) of each source."""
    for source in profile["sources"]:
        name = f"{source['measure']} at {source['at']:g}" if "at" in source else source["measure"]
        yield name, source["value"], of_source(profile, source, host_ns), source["unit"]


def curves(cell: Cell, host_ns_text: str | None) -> int:
    """Compute the curves of a cell's device, print the ratios to its sources, store figure and CSV."""
    host_ns = host_time(host_ns_text, fitted_host_time(cell.device))
    profile = dict(cell.profiles["device"])
    if profile["driver"] != DRIVER:
        raise BadInputError(f"DEVICE={cell.device} CURVES=yes: only a device of {DRIVER} has a model")
    points = compute(profile, host_ns)
    rows: list[list[Any]] = [["curve", "x", "y", "unit", "from"]]
    for name, line in points.items():
        unit = CURVES[name].unit
        rows += [[name, x, round(y, 3), unit, "model"] for x, y in line]
        rows += [[name, x, round(y, 3), unit, "source"] for x, y in published(profile, name)]
    head = source_notes(cell, host_ns)
    lines = [*head, f"{'source':28} {'published':>10} {'model':>10} {'ratio':>6}"]
    for name, value, ours, unit in compared(profile, host_ns):
        lines.append(f"{name:28} {value:10g} {ours:10.4g} {ours / value:6.3f}  {unit}")
    state = (
        "" if cell.device_state == cell_axes()["device_state"].spec["default"] else f"-{cell.device_state}"
    )
    folder = RESULTS / f"calibrate-{cell.device}{state}"
    title = (
        f"{cell.device}, {cell.device_state}; model (line), sources (diamonds); host {host_ns} ns a command"
    )
    figure = draw(profile, points, title)
    with scratch.folder(RESULTS, ".calibrate") as part:
        save(figure, part / "curves.svg", rows)
        (part / "curves.txt").write_text("\n".join(lines) + "\n")
        folder.mkdir(exist_ok=True)
        for file in ("curves.svg", "curves.csv", "curves.txt"):
            (part / file).replace(folder / file)
    print(printable_lines(lines) if profile["sources"] else "the profile has no sources")
    print(f"kept in {folder}: curves.svg, curves.csv, curves.txt")
    return 0
