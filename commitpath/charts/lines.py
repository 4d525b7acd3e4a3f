"""Draw a figure of lines, one for each series, with a paper's numbers, and counts per transaction below."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from commitpath.charts import cause_rows, frame, look
from commitpath.charts.model import Drawn, boards, values_of
from commitpath.charts.panel_values import SIGNS
from commitpath.results.marks import MARKED

PANEL = 1.9  # inches of the lines
# Style of the virtual board's line next to a lab board's of the same color.
VIRTUAL_LINE: dict[str, Any] = {"marker": "", "linestyle": ":", "linewidth": 1.4}
# Offset between the series of a sweep's figure, which separates their whiskers.
APART = 0.09
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "d", "*")


def render(figure: Mapping[str, Any], drawn: list[Drawn], notes: list[str]) -> Figure:
    """Draw a figure of lines, its panels in one row; a plain one, of a sweep, in several."""
    if figure.get("plain"):
        return plain(figure, drawn, notes)
    rows = list(dict.fromkeys(name for shown in drawn for name in cause_texts(shown)))
    under = 0.55 + len(rows) * cause_rows.LINE / 72
    slots = [len(shown.panel.groups) + 0.6 for shown in drawn]
    left = max((look.extent(name) for name in rows), default=0.4) + 0.2
    rooms = [(figure["width"] - left - 0.15 * len(drawn)) * slot / sum(slots) for slot in slots]
    high = max(len(frame.ratios(shown, room)) for shown, room in zip(drawn, rooms, strict=True))
    over = 0.25 + 0.13 * high
    made, part = frame.frame(figure, notes, legend(drawn), PANEL + under + over)
    axes = part.subplots(1, len(drawn), width_ratios=slots, squeeze=False, sharey=True)[0]
    for column, (panel_axes, shown) in enumerate(zip(axes, drawn, strict=True)):
        frame.metric_axis(panel_axes.yaxis, "log")
        panel(panel_axes, shown, styles(drawn), column == 0, rooms[column], high)
        causes(panel_axes, shown, rows, column == 0)
    return made


def plain(figure: Mapping[str, Any], drawn: list[Drawn], notes: list[str]) -> Figure:
    """Draw a sweep's figure: panels without causes, on one scale."""
    handles = [handle for handle in legend(drawn) if handle.get_label()]
    made, grid = frame.panels(figure, len(drawn), handles, PANEL * 0.9, 0.5, notes)
    room = figure["width"] / figure["across"] - 0.6
    for place, (axes, shown) in enumerate(zip(grid, drawn, strict=False)):
        panel(axes, shown, styles(drawn), False, room, 0, APART, figure["y_scale"])
        axes.set_ylabel(shown.panel.label if place % figure["across"] == 0 else "")
        frame.x_names(axes, range(len(shown.panel.groups)), shown.panel.groups, room)
        if place + figure["across"] < len(drawn):
            axes.set_xlabel("")
    # last: the panels have one scale
    frame.metric_axis(grid[0].yaxis, figure["y_scale"])
    return made


def styles(drawn: list[Drawn]) -> dict[str, dict[str, Any]]:
    """Return the style of each series: color, marker; hollow and dashed in another build."""
    first = {value.bar.series: value.bar for value in reversed(values_of(drawn))}
    series = dict.fromkeys(name for shown in drawn for name in shown.panel.series if name in first)
    return {
        name: {
            "color": (color := look.color(first[name].color)),
            "marker": marker,
            "markersize": 4,
            "linewidth": 1.1,
            "linestyle": (0, (3, 1.5)) if first[name].light else "-",
            "markerfacecolor": "none" if first[name].light else color,
        }
        for name, marker in zip(series, itertools.cycle(MARKERS), strict=False)
    }


def panel(
    axes: Axes,
    drawn: Drawn,
    how: Mapping[str, dict[str, Any]],
    first: bool,
    room: float,
    high: int,
    apart: float = 0,
    scale: str = "log",
) -> None:
    """Draw one panel, `room` inches wide, with `high` lines over it; a missing value is a gap with a word.

    scale: of matplotlib, which the axis of the numbers has in the end.
    """
    style.grid(axes, "both")
    groups = drawn.panel.groups
    middle = (len(drawn.panel.series) - 1) / 2
    for (at, series), outlined in itertools.product(enumerate(drawn.panel.series), (False, True)):
        of = [value for value in drawn.values if (value.bar.series, value.bar.outlined) == (series, outlined)]
        of.sort(key=lambda value: groups.index(value.bar.group))
        points = [(groups.index(value.bar.group) + apart * (at - middle), value.number.value) for value in of]
        axes.plot(*with_gaps(points), **how[series] | (VIRTUAL_LINE if outlined else {}))
        for (x, _), value in zip(points, of, strict=True):
            if value.number.interval and value.number.value is not None:
                low, top = value.number.interval
                # a logarithmic axis has nothing at or below 0
                low = value.number.value / 10 if scale == "log" and low <= 0 else low
                ink = how[series]["color"] if apart else style.INK
                axes.vlines(x, low, top, color=ink, linewidth=0.8)
            if MARKED in value.marks and value.number.value is not None:
                axes.annotate(MARKED, (x, value.number.value), (3, 2), textcoords="offset points",
                              fontsize=look.SMALL)  # fmt: skip
    absent(axes, drawn)
    frame.stated(axes, drawn, {value.bar: groups.index(value.bar.group) for value in drawn.values})
    axes.set_xticks(range(len(groups)), [frame.clean(group) for group in groups])
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set_xlabel("\n".join(look.wrapped(drawn.panel.x, room)), fontsize=look.SMALL, labelpad=2)
    if first:
        axes.set_ylabel(f"{drawn.panel.label} (log)")
    frame.title(axes, drawn, room, high)


def with_gaps(points: Sequence[tuple[float, float | None]]) -> tuple[list[float], list[float]]:
    """Return x and y of a line that breaks at a value without a number, and at one that the series lacks."""
    line: list[tuple[float, float]] = []
    for x, number in points:
        if line and x - line[-1][0] > 1.5:
            line.append((x - 1, math.nan))
        line.append((x, math.nan if number is None else number))
    return [x for x, _ in line], [y for _, y in line]


def absent(axes: Axes, drawn: Drawn) -> None:
    """Write the words for missing values at their place, with their number."""
    for at, group in enumerate(drawn.panel.groups):
        text, color = absence([value.found.state for value in drawn.values if value.bar.group == group])
        axes.text(at, 0.02, text, rotation=90, ha="center", va="bottom", fontsize=look.SMALL,
                  color=color, transform=axes.get_xaxis_transform())  # fmt: skip


def absence(states: Sequence[str]) -> tuple[str, str]:
    """Return the words for the values that are missing, and their color: `missing: 3 of 24`."""
    counts = {state: states.count(state) for state in states if state != "ok"}
    words = [
        SIGNS[state] if number == len(states) else f"{SIGNS[state]}: {number} of {len(states)}"
        for state, number in counts.items()
    ]
    return ", ".join(words), look.FAILED if "failed" in counts else look.ABSENT


def causes(axes: Axes, drawn: Drawn, rows: list[str], first: bool) -> None:
    """Write the strip under a panel. rows: names of those that any panel has; first: write them, too."""
    texts = cause_texts(drawn)
    for row, name in enumerate(rows):
        down = -(38 + cause_rows.LINE * row)
        if first:
            cause_rows.write(axes, 0, "axes fraction", down, name, "right", -14)
        for x, text in texts.get(name, {}).items():
            cause_rows.write(axes, x, "data", down, text, "center", 0)


def cause_texts(drawn: Drawn) -> dict[str, dict[int, str]]:
    """Return the rows of the strip: watched series and count → place → text."""
    rows: dict[str, dict[int, str]] = {}
    for series in drawn.panel.series:
        for name, number in cause_rows.ROWS.items():
            texts = {
                drawn.panel.groups.index(value.bar.group): look.few(number(value.causes))
                for value in drawn.values
                if value.bar.series == series and value.causes and not value.bar.light
            }
            if texts:
                rows[f"{series}: {name}"] = texts
    return rows


def legend(drawn: list[Drawn]) -> list[Any]:
    """Return a handle for each series, with its marks, and for the paper's numbers. Points have MARKED."""
    handles: list[Any] = []
    for series, how in styles(drawn).items():
        alike = [value for value in values_of(drawn) if value.bar.series == series]
        marks = "".join(sorted({mark for value in alike for mark in value.marks} - {MARKED}))
        handles.append(Line2D([], [], label=f"{series}{marks}", **how))
    plain: dict[str, Any] = {"color": look.PLAIN, "marker": "o", "markersize": 4, "linewidth": 1.1}
    for label, outlined in boards(drawn):
        handles.append(Line2D([], [], label=label, **plain | (VIRTUAL_LINE if outlined else {})))
    return [*handles, *frame.legend(drawn)]
