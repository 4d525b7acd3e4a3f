"""Lay out a sweep's figure: a grid of panels, the scale of a metric's axis, names along the x axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from commitpath.charts import frame, look


def panels(
    figure: Mapping[str, Any],
    number: int,
    handles: list[Any],
    high: float,
    around: float,
    notes: Sequence[str] = (),
) -> tuple[Figure, list[Axes]]:
    """Return a page and the axes of its panels, `across` in a row. around: inches above and below each."""
    across = figure["across"]
    rows = math.ceil(number / across)
    made, part = frame.frame(figure, notes, handles, rows * (high + around))
    axes = list(part.subplots(rows, across, squeeze=False, sharey=True, sharex=True).flat)
    for empty in axes[number:]:
        empty.set_visible(False)
    return made, axes


def metric_axis(axis: Any, scale: str) -> None:
    """Give an axis of a metric plain numbers and a scale of matplotlib's: linear (from 0), log or symlog."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")(scale)
    if scale == "linear":
        getattr(axis.axes, f"set_{axis.axis_name}lim")(0)
    else:
        axis.set_minor_locator(NullLocator())
    if scale == "log":
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(lambda value, _: look.tick(value))


def x_names(axes: Axes, places: Sequence[float], names: Sequence[str], room: float) -> None:
    """Write the names of places on the x axis, rotated if they would overlap in `room` inches."""
    wide = max((look.extent(line, look.POINTS) for name in names for line in name.split("\n")), default=0)
    turned = wide + 0.06 > room / max(len(names), 1)
    axes.set_xticks(list(places), [frame.clean(name) for name in names], rotation=35 if turned else 0,
                    ha="right" if turned else "center", rotation_mode="anchor")  # fmt: skip


def broken(label: str, room: float) -> str:
    """Return a label, broken after its hyphens if it is wider than `room` inches."""
    return label.replace("-", "-\n") if look.extent(label) * 1.15 > room else label
