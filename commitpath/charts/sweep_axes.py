"""What the panels of a sweep's figure have: a page, axes of a metric, names of places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from commitpath.charts import frame, look
from commitpath.charts.model import Drawn


def panels(
    figure: Mapping[str, Any], drawn: list[Drawn], handles: list[Any], high: float, around: float
) -> tuple[Figure, list[Axes]]:
    """A page with the axes of a sweep's figure, `across` in a row. around: inches over and under a panel."""
    across = figure["across"]
    rows = math.ceil(len(drawn) / across)
    made, part = frame.frame(figure, drawn, [], handles, rows * (high + around))
    axes = list(part.subplots(rows, across, squeeze=False, sharey=True, sharex=True).flat)
    for empty in axes[len(drawn) :]:
        empty.set_visible(False)
    return made, axes


def metric_axis(axis: Any, log: bool) -> None:
    """Numbers of a metric along an axis: by powers, or from 0."""
    if log:
        getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_locator(NullLocator())
    else:
        getattr(axis.axes, f"set_{axis.axis_name}lim")(0)
    axis.set_major_formatter(lambda value, _: look.tick(value))


def x_names(axes: Axes, places: Sequence[float], names: Sequence[str], room: float) -> None:
    """Name places on the x axis; turned where they would overlap in `room` inches."""
    wide = max((look.extent(line, look.POINTS) for name in names for line in name.split("\n")), default=0)
    turned = wide + 0.06 > room / max(len(names), 1)
    axes.set_xticks(list(places), [frame.clean(name) for name in names], rotation=35 if turned else 0,
                    ha="right" if turned else "center", rotation_mode="anchor")  # fmt: skip


def broken(label: str, room: float) -> str:
    """A label, broken behind its hyphens where it is wider than `room` inches."""
    return label.replace("-", "-\n") if look.extent(label) * 1.15 > room else label
