"""Draw speed over lost commits: a mark for each measured cell, and the Pareto front."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from base.identity import FIRST_ENGINE
from commitpath.cells.axes import axes
from commitpath.charts import look
from commitpath.reporting.durability_rows import Found, Row
from model import engines

# Colour and shape of a mark; an engine without a journal mode has its own colour. Each device is a column of
# panels, each combination of the other settings a row.
COLOR, SHAPE, COLUMN, ENGINE = "journal_mode", "synchronous", "device", "engine"
SHAPES = ("X", "v", "o", "s", "D", "^")
# for an engine without the setting
SHAPELESS = "P"
BROKEN = "#E0002D"
TICKS = (0, 1, 3, 10, 30, 100, 300, 1000)
UNUSABLE = "no usable\ndatabase"
# inches of a panel's height, of legend and axes, and of a line of the caption
_PANEL, _EDGES, _LINE = 1.75, 1.7, 0.17
# letters of a title that fit above a panel in the usual size
_TITLE = 40
# distance between marks of different shapes at one number, in units of x
_OFFSET = 0.14


def x_of(worst: float) -> float:
    """Return the x of a number of lost commits; 0, 1, 3 and 7 are equidistant."""
    return math.log2(worst + 1)


def draw(found: Found) -> Figure:
    """Draw every measured cell."""
    partly = frozenset[str]().union(*(row.lacking for row in found.rows))
    drawn = {COLOR, SHAPE, COLUMN, ENGINE, *partly}
    rest = [axis for axis in found.varied if axis not in drawn]
    columns = list(dict.fromkeys(row.settings.get(COLUMN, "") for row in found.rows))
    names = list(dict.fromkeys(label(row, rest) for row in found.rows))
    caption = textwrap.wrap(
        f"{style.clean(found.caption())}. Commits lost: acknowledged transactions lost in the worst cut. "
        "Line: no cell of the panel is faster and loses less. Red edge: more was lost than the settings "
        f"allow. Marks at one number are spread by {SHAPE}.",
        150,
    )
    made = style.figure(_EDGES + _PANEL * len(names) + _LINE * len(caption))
    grid = made.subplots(len(names), len(columns), squeeze=False, sharex=True, sharey=True)
    most = max((row.trials.worst or 0 for row in found.rows), default=0)
    for at, name in enumerate(names):
        for place, column in enumerate(columns):
            rows = [
                row
                for row in found.rows
                if label(row, rest) == name and row.settings.get(COLUMN, "") == column
            ]
            title = "  ".join(text for text in (name, column) if text)
            panel(grid[at][place], rows, title, most)
    for under in grid[-1]:
        under.set_xlabel("commits lost")
    for left in grid[:, 0]:
        left.set_ylabel("transactions/s")
    made.legend(handles=handles(found), loc="outside upper left", ncols=6, columnspacing=1.2)
    made.supxlabel("\n".join(caption), x=0.01, ha="left", fontsize=8)
    return made


def label(row: Row, names: Sequence[str]) -> str:
    """Return a name of a row: some of its settings."""
    return " ".join(row.settings[name] for name in names if row.settings[name])


def panel(under: Axes, rows: Sequence[Row], title: str, most: int) -> None:
    """Draw the cells of one panel, or a note if there are none."""
    nothing = x_of(most) + 1.5
    style.grid(under, "both")
    under.set_title(style.clean(title), fontweight="normal", fontsize=8.5 if len(title) <= _TITLE else 7.4)
    under.set_yscale("log")
    ticks = [tick for tick in TICKS if tick <= most]
    under.set_xticks([*map(x_of, ticks), nothing], [*map(str, ticks), UNUSABLE])
    under.set_xlim(-0.6, nothing + 0.8)
    under.axvspan(nothing - 0.75, nothing + 0.8, color=style.INK, alpha=0.06, linewidth=0)
    if not rows:
        under.text(0.5, 0.5, "no cell is measured", transform=under.transAxes, ha="center", alpha=0.6)
    for row in rows:
        marker, offset = shape(row.settings)
        unusable = row.trials.unusable or row.trials.worst is None
        x = nothing if unusable else x_of(row.trials.worst or 0)
        look_of: dict[str, Any] = {
            "color": color(row.settings),
            "edgecolors": BROKEN if row.trials.broken else "white",
            "linewidths": 1.6 if row.trials.broken else 0.5,
        }
        under.scatter(x + _OFFSET * offset, row.tps, s=34, marker=marker, zorder=3, **look_of)
    best = front(rows)
    if best:
        xs, ys = [x_of(row.trials.worst or 0) for row in best], [row.tps for row in best]
        under.plot(
            [*xs, nothing - 0.75],
            [*ys, ys[-1]],
            drawstyle="steps-post",
            color=style.INK,
            alpha=0.5,
            linewidth=1.1,
            zorder=2,
        )


def front(rows: Sequence[Row]) -> list[Row]:
    """Return the usable cells that no other beats in both speed and loss, the least loss first."""
    best: list[Row] = []
    usable = [row for row in rows if not row.trials.unusable and row.trials.worst is not None]
    for row in sorted(usable, key=lambda row: (row.trials.worst or 0, -row.tps)):
        if not best or row.tps > best[-1].tps:
            best.append(row)
    return best


def color(settings: Mapping[str, str]) -> str:
    """Return the colour of a mark: of its journal mode, or of the first file that only its engine has."""
    if mode := settings.get(COLOR):
        return look.color(mode.upper())
    own = engines.by_name(settings[ENGINE]).FILES if ENGINE in settings else {}
    colors = [ink for role, (_, ink) in own.items() if role not in engines.by_name(FIRST_ENGINE).FILES]
    return colors[0] if colors else style.SQL


def shape(settings: Mapping[str, str]) -> tuple[str, float]:
    """Return the shape of a mark, and its offset from the other marks at its number."""
    if not (value := settings.get(SHAPE)):
        return SHAPELESS, 0
    every = axes()[SHAPE].choices()
    at = every.index(value)
    return SHAPES[at % len(SHAPES)], at - (len(every) - 1) / 2


def handles(found: Found) -> list[Line2D]:
    """Return the legend: the colours in the figure, then the shapes."""
    made = []
    for axis in (COLOR, ENGINE, SHAPE):
        there = {row.settings.get(axis) for row in found.rows if axis != ENGINE or COLOR in row.lacking}
        for value in axes()[axis].choices():
            if value in there:
                ink, marker, name = color({axis: value}), "o", value
                if axis == SHAPE:
                    ink, marker, name = style.SQL, shape({axis: value})[0], f"{axis} {value}"
                elif axis == ENGINE and SHAPE in engines.unused_axes(value):
                    marker = SHAPELESS
                made.append(Line2D([], [], color=ink, marker=marker, linestyle="", label=name))
    return made
