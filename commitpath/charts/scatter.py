"""One metric over another: a point for each cell, coloured by its series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from commitpath.charts import look, sweep_axes
from commitpath.charts.lines import MARKERS
from commitpath.charts.model import Drawn

PANEL = 1.9  # inches


def render(figure: Mapping[str, Any], drawn: list[Drawn], across: list[Drawn]) -> Figure:
    """Draw the points. across: the same panels, with the metric of the x axis."""
    series = {value.bar.series: look.color(value.bar.color) for one in drawn for value in one.values}
    marks = {name: MARKERS[at % len(MARKERS)] for at, name in enumerate(series)}
    handles = [
        Line2D([], [], color=color, marker=marks[name], linestyle="", markersize=4, label=name)
        for name, color in series.items()
        if name
    ]
    made, grid = sweep_axes.panels(figure, drawn, handles, PANEL, 0.5)
    for place, (axes, one, other) in enumerate(zip(grid, drawn, across, strict=False)):
        style.grid(axes, "both")
        for value, x in zip(one.values, other.values, strict=True):
            if value.number.value is None or x.number.value is None:
                continue
            color = series[value.bar.series]
            mark: dict[str, Any] = {"color": color, "marker": marks[value.bar.series], "markersize": 4}
            mark |= {"markeredgecolor": "white", "markeredgewidth": 0.4}
            axes.plot([x.number.value], [value.number.value], **mark)
            if value.number.interval:
                axes.vlines(x.number.value, *value.number.interval, color=color, linewidth=0.8)
        axes.set_xlabel(one.panel.x, fontsize=look.SMALL, labelpad=2)
        if place % figure["across"] == 0:
            axes.set_ylabel(one.panel.label)
        axes.set_title(one.panel.title, fontweight="bold", fontsize=look.POINTS)
    # last: the panels have one scale
    sweep_axes.metric_axis(grid[0].xaxis, figure["x_log"])
    sweep_axes.metric_axis(grid[0].yaxis, figure["log"])
    return made
