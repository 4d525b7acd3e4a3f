"""Pages and axes of the figures of sweeps."""

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
    """Return a page and the axes of its panels, `across` in a row. around: inches above and below each."""
    across = figure["across"]
    rows = math.ceil(len(drawn) / across)
    made, part = frame.frame(figure, drawn, [], handles, rows * (high + around))
    axes = list(part.subplots(rows, across, squeeze=False, sharey=True, sharex=True).flat)
    for empty in axes[len(drawn) :]:
        empty.set_visible(False)
    return made, axes


def metric_axis(axis: Any, log: bool) -> None:
    """Make an axis of a metric logarithmic, or linear from 0."""
    if log:
        log_axis(axis)
    else:
        getattr(axis.axes, f"set_{axis.axis_name}lim")(0)
        axis.set_major_formatter(lambda value, _: look.tick(value))


def log_axis(axis: Any) -> None:
    """Make an axis logarithmic, with plain numbers."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
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
