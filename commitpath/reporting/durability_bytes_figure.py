"""Draw latency over bytes: a named mark for each cell, its shape by what cuts lost."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from commitpath.charts import look, sweep_axes
from commitpath.reporting.durability_bytes import NAMED, Cost, Costs
from commitpath.reporting.durability_figure import BROKEN, color

# Shape of a mark by what cuts lost, with its name in the legend.
WHOLE, SOME, ALL = "o", "v", "X"
OUTCOMES = {
    WHOLE: "nothing is lost",
    SOME: "commits are lost (at most so many)",
    ALL: "no usable database (after so many cuts)",
}
COLUMNS = 3
# inches of a panel's height, of legend and axes, and of a line of the caption
_PANEL, _EDGES, _LINE = 3.1, 1.25, 0.17
# points: a name's size, and half a mark's
_TEXT, _MARK = 8.0, 5.0
# distances of a name from its mark in points, nearest first; number of directions
_AWAY, _DIRECTIONS = (8, 14, 22, 32, 44, 58), 16
# part of a panel's width or height that stays free around the outermost marks
_MARGIN = 0.14


class Box(NamedTuple):
    """A rectangle, in points."""

    left: float
    low: float
    right: float
    high: float

    def over(self, other: Box) -> float:
        """Return the area of the intersection."""
        width = min(self.right, other.right) - max(self.left, other.left)
        return max(width, 0.0) * max(min(self.high, other.high) - max(self.low, other.low), 0.0)

    def area(self) -> float:
        return (self.right - self.left) * (self.high - self.low)


def draw(costs: Costs) -> Figure:
    """Draw every cell."""
    places = list(dict.fromkeys(cost.place for cost in costs.costs))
    columns = min(len(places), COLUMNS)
    rows = math.ceil(len(places) / columns)
    caption = textwrap.wrap(
        f"{style.clean(costs.caption(NAMED))}. KiB: all that the device was given, close and drain included, "
        "over the transactions. Latency: the mean, without the watching. Left and below is better"
        + (". Red edge: more was lost than the settings allow." if any_broken(costs) else "."),
        150,
    )
    made = style.figure(_EDGES + _PANEL * rows + _LINE * len(caption))
    grid = made.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    panels = list(grid.flat)
    for place, under in zip(places, panels, strict=False):
        panel(under, [cost for cost in costs.costs if cost.place == place], place)
    scale(panels[0], costs.costs)
    for under in panels[len(places) :]:
        under.set_visible(False)
    for under in grid[-1]:
        under.set_xlabel("KiB written to the device, per transaction")
    for left in grid[:, 0]:
        left.set_ylabel("mean latency of a transaction (ms)")
    made.legend(handles=handles(costs.costs), loc="outside upper left", ncols=3, columnspacing=1.6)
    made.supxlabel("\n".join(caption), x=0.01, ha="left", fontsize=8)
    made.draw_without_rendering()
    for place, under in zip(places, panels, strict=False):
        name(made, under, [cost for cost in costs.costs if cost.place == place])
    return made


def any_broken(costs: Costs) -> bool:
    """Return whether any cell lost more than its settings allow."""
    return any(cost.row.trials.broken for cost in costs.costs)


def panel(under: Axes, costs: Sequence[Cost], title: str) -> None:
    """Draw the marks of one place."""
    style.grid(under, "both")
    under.set_title(style.clean(title), fontweight="normal")
    for cost in costs:
        broken = bool(cost.row.trials.broken)
        under.scatter(
            cost.kib,
            cost.ms,
            s=(2 * _MARK) ** 2 * (0.7 if outcome(cost) == WHOLE else 1),
            marker=outcome(cost),
            color=color(cost.row.settings),
            zorder=3,
            edgecolors=BROKEN if broken else "white",
            linewidths=1.6 if broken else 0.6,
        )


def scale(under: Axes, costs: Sequence[Cost]) -> None:
    """Make both axes logarithmic, with room for names. All panels share them."""
    for axis, values in (("x", [cost.kib for cost in costs]), ("y", [cost.ms for cost in costs])):
        least, most = math.log10(min(values)), math.log10(max(values))
        free = max(most - least, 0.5) * _MARGIN
        sweep_axes.log_axis(getattr(under, f"{axis}axis"))
        getattr(under, f"set_{axis}lim")(10 ** (least - free), 10 ** (most + free))


def outcome(cost: Cost) -> str:
    """Return the shape of a mark, by what cuts lost."""
    of = cost.row.trials
    if of.unusable or of.worst is None:
        return ALL
    return SOME if of.worst else WHOLE


def words(cost: Cost) -> str:
    """Return the name of a mark, with the number of losses."""
    of, shape = cost.row.trials, outcome(cost)
    number = {WHOLE: "", SOME: f" ({of.worst})", ALL: f" ({of.unusable})"}[shape]
    return style.clean(cost.name) + number


def name(made: Figure, under: Axes, costs: Sequence[Cost]) -> None:
    """Write each cell's name near its mark, where it hides least."""
    points = 72 / made.dpi
    spots = [tuple(points * under.transData.transform((cost.kib, cost.ms))) for cost in costs]
    frame = Box(*(points * value for value in under.get_window_extent().extents))
    taken = [Box(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in spots]
    for cost, (x, y) in zip(costs, spots, strict=True):
        text = words(cost)
        width, height = 72 * look.extent(text, _TEXT), 1.25 * _TEXT
        own = list(around(x, y, width, height))
        # the nearest that is free, else the one that hides least
        box = min(own, key=lambda box: sum(box.over(other) for other in taken) + box.area() - box.over(frame))
        taken.append(box)
        middle = ((box.left + box.right) / 2 - x, (box.low + box.high) / 2 - y)
        away = math.dist((x, y), (min(max(x, box.left), box.right), min(max(y, box.low), box.high)))
        line = {"arrowstyle": "-", "color": style.INK, "alpha": 0.45, "linewidth": 0.6, "shrinkB": _MARK}
        label = under.annotate(
            text,
            (cost.kib, cost.ms),
            middle,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=_TEXT,
            arrowprops=line if away > _AWAY[1] else None,
            zorder=4,
        )
        label.set_in_layout(False)


def around(x: float, y: float, width: float, height: float) -> Iterator[Box]:
    """Yield places for a name of a size, the nearest first; left and right before above and below."""
    turns = sorted(range(_DIRECTIONS), key=lambda turn: abs(math.sin(2 * math.pi * turn / _DIRECTIONS)))
    for away in _AWAY:
        for turn in turns:
            across, up = (f(2 * math.pi * turn / _DIRECTIONS) for f in (math.cos, math.sin))
            left = x + away * across - width * (1 - across) / 2
            low = y + away * up - height * (1 - up) / 2
            yield Box(left, low, left + width, low + height)


def handles(costs: Sequence[Cost]) -> list[Line2D]:
    """Return the legend: the shapes in the figure."""
    shapes = {outcome(cost) for cost in costs}
    return [
        Line2D([], [], color=style.SQL, marker=shape, linestyle="", label=label)
        for shape, label in OUTCOMES.items()
        if shape in shapes
    ]
