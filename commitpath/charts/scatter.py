"""Draw scatter plots of two metrics: a mark for each cell, also without a value; a Pareto front if asked."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from commitpath.charts import frame, look
from commitpath.charts.lines import MARKERS, absence
from commitpath.charts.model import Drawn

PANEL, ROW = 1.9, 0.17  # inches of a panel, and of a row with a name
DOT = 0.035  # inches from a mark's middle to its edge
# Where a mark's text may be, the best first: inches between both, and the direction to the right and up.
AROUND = [
    (gap, right, up)
    for gap in (DOT, 0.12, 0.24, 0.36)
    for right, up in ((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0, 1), (0, -1))
]
Box = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True)
class Mark:
    """A cell's numbers. state: as of Found; fill: a value with its own filling, or empty.

    text: written at the mark; outlined: with a red edge.
    """

    x: float | None
    y: float | None
    series: str
    state: str = "ok"
    fill: str = ""
    interval: tuple[float, float] | None = None
    text: str = ""
    outlined: bool = False


def unlike(texts: Sequence[str]) -> list[str]:
    """Return the footnote marks of points, empty ones if all are equal: the note below counts them."""
    return [""] * len(texts) if len({*texts}) == 1 else list(texts)


def marks(drawn: Sequence[Drawn], across: Sequence[Drawn]) -> list[tuple[str, list[Mark]]]:
    """Return the marks of panels. across: the same panels, with the metric of the x axis."""
    footnotes = iter(unlike(["".join(y.marks) for panel in drawn for y in panel.values]))
    return [
        (
            panel.panel.title,
            [
                Mark(
                    x.number.value,
                    y.number.value,
                    y.bar.series,
                    y.found.state if y.number.value is None else x.found.state,
                    interval=y.number.interval,
                    text=next(footnotes),
                )
                for y, x in zip(panel.values, other.values, strict=True)
            ],
        )
        for panel, other in zip(drawn, across, strict=True)
    ]


def render(
    figure: Mapping[str, Any], panels: Sequence[tuple[str, Sequence[Mark]]], notes: Sequence[str] = ()
) -> Figure:
    """Draw panels of marks, `across` in a row.

    figure: title, width, across, x_label, y_label, x_scale, y_scale (of matplotlib), colors (of series),
    fills (fill → matplotlib's fillstyle), and front: whether to draw a line over the marks than which none is
    higher and further left. y_names: the names of y = 0, 1, … from above, in place of y_scale.
    """
    every = [mark for _, some in panels for mark in some]
    fills = {name: how for name, how in figure.get("fills", {}).items() if name in {m.fill for m in every}}
    plain: dict[str, Any] = {"linestyle": "", "markersize": 5}
    series = [name for name in figure["colors"] if name in {mark.series for mark in every}]
    shapes = itertools.cycle(itertools.product(("full", "none"), MARKERS))
    looks = {
        name: {**plain, "marker": marker, "fillstyle": how, "color": figure["colors"][name]}
        for name, (how, marker) in zip(series, shapes, strict=False)
    }
    handles = [Line2D([], [], label=name, **how) for name, how in looks.items() if name]
    handles += [
        Line2D([], [], label=name, color=style.SQL, marker="o", fillstyle=how, **plain)
        for name, how in fills.items()
    ]
    names = figure.get("y_names", ())
    height = ROW * len(names) or PANEL
    made, grid = frame.panels(figure, len(panels), handles, height, 0.5, notes)
    for place, (axes, (title, some)) in enumerate(zip(grid, panels, strict=False)):
        style.grid(axes, "both")
        for mark in some:
            how = looks[mark.series]
            draw(axes, mark, how | {"fillstyle": fills.get(mark.fill, how["fillstyle"])}, not fills)
        if figure.get("front") and (best := front(some)):
            axes.step(
                *zip(*best, strict=True), where="post", color=style.INK, alpha=0.5, linewidth=1, zorder=1
            )
        axes.set_xlabel(
            figure["x_label"] if place + figure["across"] >= len(panels) else "",
            fontsize=look.SMALL,
            labelpad=2,
        )
        if place % figure["across"] == 0:
            axes.set_ylabel(figure["y_label"])
        lines = look.wrapped(
            style.clean(title), 0.9 * (figure["width"] / figure["across"] - 0.6), look.POINTS
        )
        axes.set_title("\n".join(lines), fontweight="bold", fontsize=look.POINTS)
    # last: the panels have one scale
    room = figure["width"] / figure["across"] - 0.6
    # texts of the outermost marks have room in the panel
    grid[0].margins(0.12 if any(mark.text for mark in every) else 0.05)
    frame.metric_axis(grid[0].xaxis, figure["x_scale"], room)
    if names:
        grid[0].set_yticks(range(len(names)), names)
        grid[0].set_ylim(len(names) - 0.5, -0.5)
    else:
        frame.metric_axis(grid[0].yaxis, figure["y_scale"])
    for axes, (_, some) in zip(grid, panels, strict=False):
        absent(axes, some, room, height)
        texts(axes, some, room, height)
    return made


def places(axes: Axes, marks: Sequence[Mark]) -> list[tuple[float, float]]:
    """Return where marks are drawn, as shares of the panel, with its final scales."""
    into = axes.transData + axes.transAxes.inverted()
    made = []
    for mark in marks:
        x, y = into.transform((1 if mark.x is None else mark.x, 1 if mark.y is None else mark.y))
        made.append((1 if mark.x is None else x, 0 if mark.y is None else y))
    return made


def absent(axes: Axes, marks: Sequence[Mark], room: float, height: float) -> None:
    """Write the words for missing values in the first corner without a mark.

    room, height: inches of the panel, with its final scales.
    """
    text, color = absence([mark.state for mark in marks]) if marks else ("none drawn", look.ABSENT)
    wide, high = (look.extent(text) + 0.15) / room, 0.25 / height
    drawn = places(axes, marks)
    corners = [
        (right, up)
        for up, right in itertools.product((0, 1), (0, 1))
        if not any(abs(x - right) < wide and abs(y - up) < high for x, y in drawn)
    ]
    right, up = next(iter(corners), (0, 0))
    ha, va = ("left", "right")[right], ("bottom", "top")[up]
    axes.text(0.02 + 0.96 * right, 0.02 + 0.96 * up, text, ha=ha, va=va, fontsize=look.SMALL, color=color,
              transform=axes.transAxes)  # fmt: skip


def draw(axes: Axes, mark: Mark, how: dict[str, Any], hollow: bool) -> None:
    """Draw a mark; one without x at the right edge, one without y at the lower edge. hollow: these two."""
    if mark.x is None and mark.y is None:
        return
    transform = axes.transData
    if mark.x is None or mark.y is None:
        transform = axes.get_yaxis_transform() if mark.x is None else axes.get_xaxis_transform()
    inside = transform is axes.transData
    if hollow and not inside:
        how["fillstyle"] = "none"
    whole = how["fillstyle"] == "full"
    edge = look.FAILED if mark.outlined else "white" if whole else how["color"]
    at = (1 if mark.x is None else mark.x, 0 if mark.y is None else mark.y)
    # whole at 0, too; a missing number over one of 0
    axes.plot(*([value] for value in at), **how, markeredgecolor=edge, clip_on=False, transform=transform,
              zorder=2 if inside else 3,
              markeredgewidth=0.4 if whole and not mark.outlined else 0.9)  # fmt: skip
    if mark.interval and inside:
        axes.vlines(at[0], *mark.interval, color=how["color"], linewidth=0.8)


def texts(axes: Axes, marks: Sequence[Mark], room: float, height: float) -> None:
    """Write each mark's text, with a line to its mark if it is not next to it.

    room, height: inches of the panel, with its final scales.
    """
    shown = [mark for mark in marks if mark.x is not None or mark.y is not None]
    spots = [
        (room * x, height * y, mark.text) for mark, (x, y) in zip(shown, places(axes, shown), strict=True)
    ]
    line = {"arrowstyle": "-", "color": look.ABSENT, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
    for (x, y, text), box in zip(spots, text_boxes(spots, room, height), strict=True):
        if text:
            middle = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
            gap = max(box[0] - x, x - box[1], box[2] - y, y - box[3])
            axes.annotate(text, (x / room, y / height), (middle[0] / room, middle[1] / height),
                          xycoords="axes fraction", ha="center", va="center", fontsize=look.SMALL,
                          annotation_clip=False, zorder=4,
                          arrowprops=line if gap > 2 * DOT else None)  # fmt: skip


def text_boxes(spots: Sequence[tuple[float, float, str]], room: float, height: float) -> list[Box]:
    """Return where in a panel each text is next to its mark, and covers no mark and no other text.

    spots: of the marks, inches from the panel's corner. A text without a free place covers the least.
    """
    low, top = -math.inf, math.inf
    taken = [(x - DOT, x + DOT, y - DOT, y + DOT) for x, y, _ in spots]
    taken += [(low, top, low, 0), (low, top, height, top), (low, 0, low, top), (room, top, low, top)]
    made: dict[int, Box] = {}
    # from above
    for spot, (x, y, text) in sorted(enumerate(spots), key=lambda pair: (-pair[1][1], pair[1][0])):
        wide, high = look.extent(text) / 2 + 0.01, look.SMALL / 72 / 2
        middles = [(x + right * (gap + wide), y + up * (gap + high)) for gap, right, up in AROUND]
        boxes = [(x - wide, x + wide, y - high, y + high) for x, y in middles]
        made[spot] = min(boxes, key=lambda box: sum(_overlap(box, other) for other in taken))
        taken += [made[spot]] if text else []
    return [made[spot] for spot in range(len(spots))]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def front(marks: Sequence[Mark]) -> list[tuple[float, float]]:
    """Return (x, y) of the marks than which no other is both higher and as far left, from left to right."""
    best: list[tuple[float, float]] = []
    both = [(mark.x, mark.y) for mark in marks if mark.x is not None and mark.y is not None]
    for x, y in sorted(both, key=lambda at: (at[0], -at[1])):
        if not best or y > best[-1][1]:
            best.append((x, y))
    return best
